import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { signalProcess } from "../../../src/os/process/process-table.ts";
import { createTeamFiles } from "../../../src/team/config/create-files.ts";
import { addMembers } from "../../../src/team/members/members.ts";
import { type TeamRef, teamRef, teamsHome } from "../../../src/team/ref.ts";
import { leaksOf } from "../../../test/support/assertions/leaks.ts";
import { removeTree } from "../../../test/support/files/remove-tree.ts";
import type { Place } from "../figure.ts";

/** Maximum milliseconds until the processes of a bench have ended. */
const ENDING_MS = 20_000;

const paths = new Set<string>();

/** Creates a directory in a place; {@link removeScratch} removes it. */
export function scratch(place: Place): string {
  const path = mkdtempSync(join(place.directory, "teams-bench-"));
  paths.add(path);
  return path;
}

/**
 * Ends the teammates of an interrupted bench: they are not children of this process, and would write to
 * removed directories.
 */
export function endTeams(dist: string): void {
  for (const path of paths) {
    if (!existsSync(join(path, "home/teams", TEAM))) continue;
    const words = [join(dist, "teams.cjs"), "delete", TEAM, "--force"];
    spawnSync(process.execPath, words, { env: environmentIn(path), stdio: "ignore" });
  }
}

/**
 * Waits until the processes of a bench have ended, then removes its scratch directories: a process must not write its last files
 * while they are removed.
 */
export async function removeScratchWhenEnded(): Promise<void> {
  const deadline = performance.now() + ENDING_MS;
  while ([...paths].some((path) => pidsIn(path).length > 0) && performance.now() < deadline) await delay(20);
  removeScratch();
}

/** Removes all scratch directories; ends the tmux servers and other processes that an interrupted bench left in them. */
export function removeScratch(): void {
  for (const path of paths) {
    const sockets = join(path, "sockets");
    const hasServer = existsSync(sockets) && readdirSync(sockets).length > 0;
    if (hasServer)
      spawnSync("tmux", [...SERVER, "kill-server"], { env: environmentIn(path), stdio: "ignore" });
    for (const pid of pidsIn(path)) signalProcess(pid, "SIGKILL");
    removeTree(path);
  }
  paths.clear();
}

/** Returns the pids of processes whose arguments or environment contain a path. */
function pidsIn(path: string): readonly number[] {
  return leaksOf(path).flatMap(({ pid }) => pid ?? []);
}

export const TEAM = "crew";
const SOCKET = "bench";
/** The arguments for a team's private tmux server, which reads no user configuration. */
export const SERVER = ["-L", SOCKET, "-f", "/dev/null"];

/** A team in a private home, with the environment of its command lines. */
export interface BenchTeam {
  readonly directory: string;
  readonly ref: TeamRef;
  readonly env: NodeJS.ProcessEnv;
}

export async function benchTeam(place: Place, members: readonly string[]): Promise<BenchTeam> {
  const directory = scratch(place);
  const env = environmentIn(directory);
  for (const name of ["home", "runtime", "sockets"]) mkdirSync(join(directory, name), { mode: 0o700 });
  const ref = await createTeamFiles(teamsHome(env), {
    name: TEAM,
    leadSessionId: "5f0e2a6e-0000-4000-8000-000000000000",
    leadCwd: directory,
    now: Date.now(),
  });
  await addMembers(
    ref,
    members.map((name) => ({ name, cwd: directory })),
  );
  return { directory, ref, env };
}

/** Returns the same team for a program that knows only its directory. */
export function teamIn(directory: string): TeamRef {
  return teamRef(teamsHome(environmentIn(directory)), TEAM);
}

/** Returns an environment with home, runtime directory and tmux server in this directory. */
function environmentIn(directory: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    HOME: directory,
    SHELL: "/bin/sh",
    TEAMS_HOME: join(directory, "home"),
    XDG_RUNTIME_DIR: join(directory, "runtime"),
    TMUX_TMPDIR: join(directory, "sockets"),
    TEAMS_TMUX_SOCKET: SOCKET,
  };
}
