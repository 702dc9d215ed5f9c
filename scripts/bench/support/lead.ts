import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { OperationContext } from "../../../src/operations/context.ts";
import { killAllTeammates } from "../../../src/operations/ending/kill.ts";
import { systemClock } from "../../../src/os/clock.ts";
import { openBackends } from "../../../src/runtime/backends.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import type { Room } from "../figure.ts";
import { type BenchTeam, SERVER } from "./scratch.ts";

/** A lead's operations in this team, from outside of tmux; its teammates are the built program. */
export function leadOf(room: Room, team: BenchTeam, more: NodeJS.ProcessEnv = {}): OperationContext {
  const env = { ...team.env, ...more };
  return {
    home: team.ref.home,
    ref: team.ref,
    actor: LEAD_NAME,
    env,
    clock: systemClock,
    cwd: team.directory,
    backends: openBackends(env),
    program: [process.execPath, join(room.dist, "teams.cjs")],
  };
}

/** tmux on the server of this team alone. */
export function tmuxOf({ env }: BenchTeam, ...words: readonly string[]): string {
  return execFileSync("tmux", [...SERVER, ...words], {
    env,
    encoding: "utf8",
    stdio: "pipe",
  });
}

/** Ends everybody and the team's tmux server. */
export async function endTeam(ctx: OperationContext, team: BenchTeam): Promise<void> {
  await killAllTeammates(ctx);
  endServer(team);
}

export function endServer(team: BenchTeam): void {
  try {
    tmuxOf(team, "kill-server");
  } catch {
    // It ended with its last pane, or was never started.
  }
}

/** A `tmux` of this directory that writes down who calls it before it is one; what the teammates' own processes call does not count. */
export function countedTmux(team: BenchTeam): {
  readonly env: NodeJS.ProcessEnv;
  /** Since the last look. */
  calls(teammates: readonly string[]): number;
} {
  const directory = join(team.directory, "bin");
  const log = join(team.directory, "callers.log");
  const real = execFileSync("/bin/sh", ["-c", "command -v tmux"], { encoding: "utf8" }).trim();
  mkdirSync(directory);
  writeFileSync(join(directory, "tmux"), `#!/bin/sh\necho $PPID >> '${log}'\nexec '${real}' "$@"\n`);
  chmodSync(join(directory, "tmux"), 0o755);
  const own = new Set<number>();
  return {
    env: { PATH: `${directory}${delimiter}${team.env.PATH ?? ""}` },
    calls: (teammates) => {
      const callers = existsSync(log) ? readFileSync(log, "utf8").trimEnd().split("\n").map(Number) : [];
      rmSync(log, { force: true });
      for (const pid of pidsOf(team, teammates)) own.add(pid);
      return callers.filter((pid) => !own.has(pid)).length;
    },
  };
}

/** Waits until the teammates have nothing to do. @throws Error after a minute */
export async function untilIdle({ ref }: BenchTeam, names: readonly string[]): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!names.every((name) => readStatus(ref, name)?.state === "idle")) {
    if (performance.now() > deadline) throw new Error(`Not all of ${names.join(", ")} came to rest.`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The processes of the teammates themselves. */
export function pidsOf({ ref }: BenchTeam, names: readonly string[]): readonly number[] {
  return names.flatMap((name) => readStatus(ref, name)?.process.pid ?? []);
}
