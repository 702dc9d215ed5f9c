import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { systemCode } from "../../errors.ts";
import { platform } from "../env.ts";

/** One process in the system's process table. */
export interface ProcessRow {
  readonly pid: number;
  readonly ppid: number;
  readonly pgid: number;
  /** Session id: the pid of the session leader. On macOS, where `ps` does not show it, the process group. */
  readonly sid: number;
  /** On macOS only, its terminal: processes of one terminal belong to one session. */
  readonly tty?: string;
  /** True if its process group is in the foreground of its terminal; omitted otherwise. */
  readonly foreground?: boolean;
  /** On Linux only: true if its session has no terminal; the process may still have one open, as in a sandbox. */
  readonly withoutTerminal?: boolean;
  /** Start time in the form of a process identity. */
  readonly procStart: string;
  /** The name that the program gave itself (`tmux: server`). */
  readonly name: string;
}

/** Returns these processes and all their descendants in the table. */
export function descendants(table: readonly ProcessRow[], start: Iterable<ProcessRow>): Set<ProcessRow> {
  const children = new Map<number, ProcessRow[]>();
  for (const row of table) children.set(row.ppid, [...(children.get(row.ppid) ?? []), row]);
  const found = new Set(start);
  for (const row of found) for (const child of children.get(row.pid) ?? []) found.add(child);
  return found;
}

export function isTmuxServer(row: ProcessRow): boolean {
  return /^tmux: server/.test(row.name) || /(^|\/)tmux$/.test(row.name);
}

/** Returns all processes that are visible to this user, without zombies. */
export function processTable(): readonly ProcessRow[] {
  return platform === "linux" ? tableFromProc() : tableFromPs();
}

/**
 * True if a process was started with `entry` (`NAME=value`) in its environment. Also false if the system hides the
 * environment: of another user's process, a non-dumpable one, on macOS the system's own programs (`/bin/sh`).
 */
export function hasEnvEntry(pid: number, entry: string): boolean {
  return envSnapshot()(pid, entry);
}

/** Like {@link hasEnvEntry}, with all processes seen at the same moment. */
export type EnvSnapshot = (pid: number, entry: string) => boolean;

/** Returns {@link hasEnvEntry} for many processes and entries: reads each environment once; without /proc, one fork serves all. */
export function envSnapshot(): EnvSnapshot {
  return platform === "linux" ? envFromProc() : envFromPs();
}

function envFromProc(): EnvSnapshot {
  const known = new Map<number, string>();
  return (pid, entry) => {
    const env = known.get(pid) ?? `\0${readProc(`${pid}/environ`) ?? ""}\0`;
    known.set(pid, env);
    return env.includes(`\0${entry}\0`);
  };
}

function envFromPs(): EnvSnapshot {
  let text: string | undefined;
  const known = new Map<string, ReadonlySet<number>>();
  return (pid, entry) => {
    text ??= psText(["-axwwE", "-o", "pid=,command="]);
    const pids = known.get(entry) ?? pidsShownWith(text, entry);
    known.set(entry, pids);
    return pids.has(pid);
  };
}

/** Returns the pids of the lines of `ps -E` that contain this entry: the environment follows the arguments, separated by spaces. */
export function pidsShownWith(text: string, entry: string): ReadonlySet<number> {
  const lines = text.split("\n").filter((line) => `${line} `.includes(` ${entry} `));
  return new Set(lines.map((line) => Number.parseInt(line, 10)));
}

/**
 * Sends a signal to a process, or to a process group by its negative id. Does not throw if it is gone; for a group of
 * zombies macOS reports EPERM. @returns whether it existed and we may signal it
 */
export function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if (systemCode(error) === "ESRCH" || systemCode(error) === "EPERM") return false;
    throw error;
  }
}

export const ownPid = process.pid;
/** Pid of the parent of this process, when this module was loaded. */
export const ownParent = process.ppid;

/** Returns the parent of a process; undefined if the process is gone. */
export function parentOf(pid: number): number | undefined {
  if (platform !== "linux") return tableFromPs().find((row) => row.pid === pid)?.ppid;
  const stat = readProc(`${pid}/stat`);
  return stat === undefined ? undefined : rowOfStat(stat)?.ppid;
}

function tableFromProc(): ProcessRow[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = readProc(`${name}/stat`);
      const row = stat === undefined ? undefined : rowOfStat(stat);
      return row === undefined ? [] : [row];
    });
}

/** Parses `pid (name) state ppid pgrp session …`; field 22 is the start time. The name may contain spaces and parentheses. */
export function rowOfStat(stat: string): ProcessRow | undefined {
  const open = stat.indexOf("(");
  const close = stat.lastIndexOf(")");
  const rest = stat.slice(close + 2).split(" ");
  const [state, ppid, pgid, sid, tty, foregroundGroup] = rest;
  const procStart = rest[19];
  if (state === undefined || state === "Z" || state === "X" || procStart === undefined) return undefined;
  return {
    pid: Number(stat.slice(0, open)),
    ppid: Number(ppid),
    pgid: Number(pgid),
    sid: Number(sid),
    ...(foregroundGroup === pgid ? { foreground: true } : {}),
    ...(tty === "0" ? { withoutTerminal: true } : {}),
    procStart,
    name: stat.slice(open + 1, close),
  };
}

function tableFromPs(): ProcessRow[] {
  return psText(["-axo", "pid=,ppid=,pgid=,tty=,stat=,lstart=,comm="])
    .split("\n")
    .flatMap((line) => rowOfPs(line) ?? []);
}

/** Maximum bytes of the output of ps: every process with its whole environment. */
const PS_MAX_BYTES = 64 * 1024 * 1024;

/** Returns the output of ps. @throws Error if ps failed */
export function psText(args: readonly string[]): string {
  const env = { ...process.env, LC_ALL: "C", TZ: "UTC" };
  return execFileSync("ps", args, { encoding: "utf8", env, maxBuffer: PS_MAX_BYTES });
}

/** Parses a line of ps. `lstart` is always five words: `Sat Nov 21 09:06:51 2026`; a missing terminal is shown as question marks. */
export function rowOfPs(line: string): ProcessRow | undefined {
  const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+(.*)$/.exec(
    line,
  );
  if (match === null || match[5]?.startsWith("Z")) return undefined;
  const [, pid, ppid, pgid, tty = "", state = "", procStart = "", name = ""] = match;
  return {
    pid: Number(pid),
    ppid: Number(ppid),
    pgid: Number(pgid),
    sid: Number(pgid),
    ...(tty.includes("?") ? {} : { tty }),
    ...(state.includes("+") ? { foreground: true } : {}),
    procStart,
    name: name.trim(),
  };
}

/** Reads a file below /proc; undefined for a process that has just ended, or that this user may not inspect. */
export function readProc(path: string): string | undefined {
  try {
    return readFileSync(`/proc/${path}`, "utf8");
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ESRCH" || code === "EACCES" || code === "EPERM") return undefined;
    throw error;
  }
}
