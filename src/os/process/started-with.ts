import { readlinkSync } from "node:fs";
import { systemCode } from "../../errors.ts";
import { withoutEnd } from "../../text/line-ends.ts";
import { platform } from "../env.ts";
import { psText, readProc } from "./process-table.ts";

/** The command line and environment that a process was started with, as far as the system shows them. */
export interface StartedWith {
  /**
   * The program and its arguments. A program that sets its title overwrites them. On macOS they are
   * split at spaces, and the environment follows.
   */
  readonly words: readonly string[];
  /** Returns a variable of the environment; undefined if it is not set, or if the system hides the environment. */
  env(name: string): string | undefined;
  /** The program's file; undefined if the system does not show it (on macOS, where `words[0]` often is its path). */
  readonly program?: string | undefined;
}

/** Returns the command line and environment of a process's start; undefined if it is gone, or belongs to another user. */
export type Inspect = (pid: number) => StartedWith | undefined;

/** Returns a function that inspects processes at this moment; without /proc, one fork serves all. */
export function inspectProcesses(): Inspect {
  return platform === "linux" ? once(inspectProc) : inspectPs();
}

function once(inspect: Inspect): Inspect {
  const known = new Map<number, StartedWith | undefined>();
  return (pid) => {
    if (!known.has(pid)) known.set(pid, inspect(pid));
    return known.get(pid);
  };
}

function inspectProc(pid: number): StartedWith | undefined {
  const line = readProc(`${pid}/cmdline`);
  if (line === undefined) return undefined;
  let variables: readonly string[] | undefined;
  return {
    words: withoutEnd(line, "\0").split("\0"),
    env(name) {
      variables ??= (readProc(`${pid}/environ`) ?? "").split("\0");
      return variables.find((entry) => entry.startsWith(`${name}=`))?.slice(name.length + 1);
    },
    get program() {
      return programOf(pid);
    },
  };
}

function programOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/exe`);
  } catch (error) {
    // The process is gone, or belongs to another user.
    if (["ENOENT", "ESRCH", "EACCES", "EPERM"].includes(systemCode(error) ?? "")) return undefined;
    throw error;
  }
}

function inspectPs(): Inspect {
  let lines: ReadonlyMap<number, string> | undefined;
  return (pid) => {
    lines ??= linesByPid(psText(["-axwwE", "-o", "pid=,command="]));
    const line = lines.get(pid);
    return line === undefined ? undefined : startedWithOf(line);
  };
}

/** Returns the commands in the output of `ps -E -o pid=,command=`, by pid. */
export function linesByPid(text: string): ReadonlyMap<number, string> {
  const rows = [...text.matchAll(/^\s*(\d+) (.*)$/gm)];
  return new Map(rows.map(([, pid, command = ""]) => [Number(pid), command]));
}

/** Reads a command of ps that is followed by its environment. An argument may look like a variable, so the last match counts. */
export function startedWithOf(command: string): StartedWith {
  const words = command.split(" ");
  return {
    words,
    env: (name) => words.findLast((word) => word.startsWith(`${name}=`))?.slice(name.length + 1),
  };
}

/** Returns the time at which a process started, in milliseconds since the epoch, from the start time of its identity. */
export function startMilliseconds(procStart: string): number | undefined {
  const start = platform === "linux" ? startFromTicks(procStart) : Date.parse(`${procStart} UTC`);
  return Number.isFinite(start) ? start : undefined;
}

/** The kernel shows times to programs in hundredths of a second since boot, on all common machines. */
const MS_PER_TICK = 10;

function startFromTicks(ticks: string): number {
  const boot = /^btime (\d+)$/m.exec(readProc("stat") ?? "")?.[1];
  return Number(boot) * 1_000 + Number(ticks) * MS_PER_TICK;
}
