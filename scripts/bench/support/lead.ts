import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { OperationContext } from "../../../src/operations/context.ts";
import { killAllTeammates } from "../../../src/operations/ending/kill.ts";
import { systemClock } from "../../../src/os/clock.ts";
import { openBackends } from "../../../src/runtime/backends.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { peekInbox } from "../../../src/team/inbox/inbox-file.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import type { Setup } from "../figure.ts";
import { type BenchTeam, SERVER } from "./scratch.ts";

/** Returns the context of a lead outside tmux; its teammates run the built program. */
export function leadOf(setup: Setup, team: BenchTeam, more: NodeJS.ProcessEnv = {}): OperationContext {
  const env = { ...team.env, ...more };
  return {
    home: team.ref.home,
    ref: team.ref,
    actor: LEAD_NAME,
    env,
    clock: systemClock,
    cwd: team.directory,
    backends: openBackends(env),
    program: [process.execPath, join(setup.dist, "teams.cjs")],
  };
}

/** Runs tmux on the private server of this team. */
export function tmuxOf({ env }: BenchTeam, ...words: readonly string[]): string {
  return execFileSync("tmux", [...SERVER, ...words], {
    env,
    encoding: "utf8",
    stdio: "pipe",
  });
}

/** Ends all teammates and the team's tmux server. */
export async function endTeam(ctx: OperationContext, team: BenchTeam): Promise<void> {
  await killAllTeammates(ctx);
  endServer(team);
}

export function endServer(team: BenchTeam): void {
  try {
    tmuxOf(team, "kill-server");
  } catch {
    // It ended with its last pane, or never started.
  }
}

/**
 * Installs a `tmux` that records its callers and then runs the real one. Calls by the teammates' own
 * processes do not count.
 */
export function countedTmux(team: BenchTeam): {
  readonly env: NodeJS.ProcessEnv;
  /** Returns the number of tmux calls since this function was last called. */
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

/** Waits until these teammates are idle and have read all their messages. @throws Error after three minutes */
export async function untilIdle({ ref }: BenchTeam, names: readonly string[]): Promise<void> {
  const deadline = performance.now() + 180_000;
  const isIdle = (name: string): boolean =>
    peekInbox(ref, name).every(({ read }) => read) && readStatus(ref, name)?.state === "idle";
  while (!names.every(isIdle)) {
    if (performance.now() > deadline) throw new Error(`Not all of ${names.join(", ")} became idle.`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Returns the processes of the teammates' agents. */
export function pidsOf({ ref }: BenchTeam, names: readonly string[]): readonly number[] {
  return names.flatMap((name) => readStatus(ref, name)?.process.pid ?? []);
}
