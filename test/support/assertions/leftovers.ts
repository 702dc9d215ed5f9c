import { spawnSync } from "node:child_process";
import { type Dirent, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { platform } from "../../../src/os/env.ts";
import { hasEnvEntry, processTable } from "../../../src/os/process/process-table.ts";
import { eventually } from "../timing/eventually.ts";
import type { PrivateTmux } from "../tmux/private-tmux.ts";

/** The traces of teams that a test left on its machine. */
export interface Leftovers {
  /** Every pane of the private server, `session:command`. */
  readonly panes: readonly string[];
  /** Processes started by this test's programs, except tmux and the commands of panes. */
  readonly processes: readonly string[];
  /** FIFOs of the runtime directory. */
  readonly fifos: readonly string[];
  /** Lock directories, queue locks and owner records below the root. */
  readonly locks: readonly string[];
  /** Directories of teams and of their tasks. */
  readonly teams: readonly string[];
}

/** Returns the expected leftovers of a clean end: only the user's panes. */
export function nothing(panes: readonly string[] = []): Leftovers {
  return { panes, processes: [], fifos: [], locks: [], teams: [] };
}

/** Asserts the leftovers. Waits for processes to end: they do so shortly after their pane closes. */
export async function leaves(t: PrivateTmux, wanted: Leftovers): Promise<void> {
  let problem: unknown;
  await eventually("the end of everything else", () => {
    try {
      expect(leftoversOf(t)).toEqual(wanted);
      return true;
    } catch (error) {
      problem = error;
      return false;
    }
  }).catch(() => {
    throw problem;
  });
}

export function leftoversOf(t: PrivateTmux): Leftovers {
  const panes = panesOf(t);
  const ofPanes = new Set(panes.map(({ pid }) => pid));
  const processes = markedProcesses(t).filter(({ pid, name }) => !ofPanes.has(pid) && !isTmux(name));
  return {
    panes: panes.map(({ session, command }) => `${session}:${command}`),
    processes: processes.map(({ pid, name }) => `${name} ${commandLine(pid)}`),
    fifos: entriesBelow(t.runtime).flatMap(({ path, entry }) => (entry.isFIFO() ? [path] : [])),
    locks: entriesBelow(t.root).flatMap(({ path, entry }) =>
      (entry.isDirectory() && path.endsWith(".lock")) || /\.(q|lock\.owner)$/.test(path) ? [path] : [],
    ),
    teams: ["teams", "tasks"].flatMap((name) => pathsIn(join(t.root, name))),
  };
}

/** Lists the live processes with this test's marker in their environment; empty on a system that hides it. */
export function markedProcesses(t: PrivateTmux) {
  return processTable().filter(
    ({ pid }) => pid !== process.pid && hasEnvEntry(pid, `TEAMS_TEST=${t.env.TEAMS_TEST}`),
  );
}

/** Lists the files below a directory that contain a text. */
export function filesWith(directory: string, text: string): string[] {
  return entriesBelow(directory).flatMap(({ path, entry }) =>
    entry.isFile() && readFileSync(path, "utf8").includes(text) ? [path] : [],
  );
}

/** Lists the panes of the private server; empty if it does not run. */
export function panesOf(t: PrivateTmux): { pid: number; session: string; command: string }[] {
  const words = ["-L", t.env.TEAMS_TMUX_SOCKET ?? "", "list-panes", "-a", "-F"];
  const listed = spawnSync("tmux", [...words, "#{pane_pid} #{session_name} #{pane_current_command}"], {
    env: t.env,
    encoding: "utf8",
  });
  const lines = listed.stdout.split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    const [pid, session = "", command = ""] = line.split(" ");
    return { pid: Number(pid), session, command };
  });
}

function isTmux(name: string): boolean {
  return name.startsWith("tmux");
}

function commandLine(pid: number): string {
  if (platform !== "linux") return "";
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch (error) {
    // The process ended meanwhile; it is still reported.
    return String(error);
  }
}

function entriesBelow(directory: string): { path: string; entry: Dirent }[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, withFileTypes: true }).map((entry) => ({
    path: join(entry.parentPath, entry.name),
    entry,
  }));
}

function pathsIn(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory).map((name) => join(directory, name)) : [];
}
