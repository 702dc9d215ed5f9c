import { readdirSync, readFileSync } from "node:fs";
import type { Program } from "../program.ts";

/** Returns the processes with this entry in their environment whose command line contains a text. */
export function processesWith(entry: string, text: string): number[] {
  return pids().filter(
    (pid) => commandOf(pid).includes(text) && read(pid, "environ").split("\0").includes(entry),
  );
}

/** A part of each program's command line, by its channel; a path through the home of the program does not count. */
const COMMANDS = {
  "app-server": / app-server( |$)/,
  http: /(^|[ /])opencode( |$)/,
  acp: / --acp( |$)|[/ ](claude-agent-acp|codex-acp)( |$)|[/ ]opencode acp( |$)/,
  files: / --json-file /,
  hooks: / --policy /,
};

/** Returns the process of the program: the member's process, or a descendant of it. */
export function programOf({ id, channel }: Program, pid: number): number {
  if (channel === "inbox") return pid;
  const own = pids().filter(
    (one) => descends(one, pid) && one !== pid && COMMANDS[channel].test(commandOf(one)),
  );
  // Take the last process: a wrapper comes before its program.
  const last = own.at(-1);
  if (last === undefined) throw new Error(`no process of ${id} below ${pid}`);
  return last;
}

function pids(): number[] {
  return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

function descends(pid: number, ancestor: number): boolean {
  for (let at = pid; at > 1; at = parentOf(at)) if (at === ancestor) return true;
  return false;
}

function parentOf(pid: number): number {
  return Number(read(pid, "stat").split(") ").at(-1)?.split(" ")[1] ?? 0);
}

function commandOf(pid: number): string {
  return read(pid, "cmdline").replaceAll("\0", " ").trim();
}

/** Reads a file of a process; returns "" for a process that has ended or belongs to another user. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
