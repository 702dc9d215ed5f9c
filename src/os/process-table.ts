import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { systemCode } from "../errors.ts";
import { platform } from "./env.ts";

/** One process as the system shows it. */
export interface ProcessRow {
  readonly pid: number;
  readonly ppid: number;
  readonly pgid: number;
  /** Session id: the pid of the process that began it. On macOS, where `ps` does not show it, the process group. */
  readonly sid: number;
  /** Start time in the form of a process identity. */
  readonly procStart: string;
  /** The program's own name for itself (`tmux: server`). */
  readonly name: string;
}

/** Every living process that we may see; zombies are left out. */
export function processTable(): readonly ProcessRow[] {
  return platform === "linux" ? tableFromProc() : tableFromPs();
}

/**
 * Whether a process was started with `entry` (`NAME=value`) in its environment. False also where the system does not
 * let us look: another user's, a non-dumpable one, and macOS altogether.
 */
export function startedWith(pid: number, entry: string): boolean {
  if (platform !== "linux") return false;
  return readProc(`${pid}/environ`)?.split("\0").includes(entry) ?? false;
}

/**
 * Sends a signal to a process, or to a whole group by its negative id; that nobody is left is no failure (of a group of
 * zombies macOS says that it is not ours). @returns whether it was there and ours to signal
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

function tableFromProc(): ProcessRow[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = readProc(`${name}/stat`);
      const row = stat === undefined ? undefined : rowOfStat(stat);
      return row === undefined ? [] : [row];
    });
}

/** `pid (name) state ppid pgrp session …`, field 22 the start; the name may hold spaces and brackets. */
export function rowOfStat(stat: string): ProcessRow | undefined {
  const open = stat.indexOf("(");
  const close = stat.lastIndexOf(")");
  const rest = stat.slice(close + 2).split(" ");
  const [state, ppid, pgid, sid] = rest;
  const procStart = rest[19];
  if (state === undefined || state === "Z" || state === "X" || procStart === undefined) return undefined;
  return {
    pid: Number(stat.slice(0, open)),
    ppid: Number(ppid),
    pgid: Number(pgid),
    sid: Number(sid),
    procStart,
    name: stat.slice(open + 1, close),
  };
}

function tableFromPs(): ProcessRow[] {
  const text = execFileSync("ps", ["-axo", "pid=,ppid=,pgid=,stat=,lstart=,comm="], {
    encoding: "utf8",
    env: { ...process.env, LC_ALL: "C", TZ: "UTC" },
  });
  return text.split("\n").flatMap((line) => {
    const row = rowOfPs(line);
    return row === undefined ? [] : [row];
  });
}

/** `lstart` is always five words: `Sat Nov 21 09:06:51 2026`. */
export function rowOfPs(line: string): ProcessRow | undefined {
  const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+(.*)$/.exec(line);
  if (match === null || match[4]?.startsWith("Z")) return undefined;
  const [, pid, ppid, pgid, , procStart = "", name = ""] = match;
  return {
    pid: Number(pid),
    ppid: Number(ppid),
    pgid: Number(pgid),
    sid: Number(pgid),
    procStart,
    name: name.trim(),
  };
}

/** A process that ended while we looked, or that is not ours to look at, has no text. */
function readProc(path: string): string | undefined {
  try {
    return readFileSync(`/proc/${path}`, "utf8");
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ESRCH" || code === "EACCES" || code === "EPERM") return undefined;
    throw error;
  }
}
