import { basename, dirname, join, sep } from "node:path";
import { programName } from "../../adapter/keys/program-words.ts";
import { openFilesOf } from "../../os/process/open-files.ts";
import { descendants } from "../../os/process/process-table.ts";
import { inspectProcesses, startMilliseconds } from "../../os/process/started-with.ts";
import type { AdoptedProgram } from "../../schema/member-metadata.ts";
import type { PaneProgram } from "./pane-program.ts";

/** The file of a thread: `<CODEX_HOME>/sessions/2026/11/23/rollout-<time>-<thread>.jsonl`. */
const ROLLOUT = /^rollout-.+-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/;
/** Tolerance in milliseconds: the recorded start of a process may be later than the real one. */
const START_MS = 2_000;

/** Whether a program in a pane is Codex. */
export function isCodex({ startedWith }: PaneProgram): boolean {
  return programName(startedWith.words) === "codex";
}

/**
 * Identifies the thread of a running Codex by its open files. In 0.169.0 one daemon opens the files for all screens,
 * so the daemon's files count only if no other Codex runs.
 * @returns undefined unless exactly one open thread was created since its start or is named in its command line
 */
export function codexThread(program: PaneProgram): AdoptedProgram["thread"] {
  const { process, startedWith, table } = program;
  const inspect = inspectProcesses();
  const isDaemon = (pid: number): boolean => inspect(pid)?.words.includes("app-server") === true;
  const all = table.filter(({ pid }) => programName(inspect(pid)?.words ?? []) === "codex");
  const own = [
    ...descendants(
      table,
      table.filter(({ pid }) => pid === process.pid),
    ),
  ];
  const isAlone = all.every((row) => own.includes(row) || isDaemon(row.pid));
  const counted = isAlone ? [...own, ...all] : own.filter(({ pid }) => !isDaemon(pid));
  const startedAt = startMilliseconds(process.procStart) ?? Number.POSITIVE_INFINITY;
  const isOwn = (id: string): boolean =>
    startedWith.words.includes(id) || createdAt(id) >= startedAt - START_MS;
  const threads = new Map(
    counted.flatMap(({ pid }) =>
      openFilesOf(pid).flatMap((file) => {
        const id = ROLLOUT.exec(basename(file))?.[1];
        return id === undefined || !isOwn(id) ? [] : [[id, file] as const];
      }),
    ),
  );
  const [first] = threads;
  if (first === undefined || threads.size > 1) return undefined;
  const [id, file] = first;
  const home = homeOf(file) ?? startedWith.env("CODEX_HOME");
  return { id, ...(home === undefined ? {} : { home }) };
}

/** Reads from a thread's id, a UUID of version 7, when the thread was created: in milliseconds since the epoch; NaN if unknown. */
function createdAt(id: string): number {
  const [, high, low = ""] = /^([\da-f]{8})-([\da-f]{4})-7/i.exec(id) ?? [];
  return high === undefined ? Number.NaN : Number.parseInt(high + low, 16);
}

/** Returns the directory that contains the `sessions/` of a thread's file. */
function homeOf(file: string): string | undefined {
  const parts = dirname(file).split(sep);
  const at = parts.lastIndexOf("sessions");
  return at < 1 ? undefined : join(sep, ...parts.slice(0, at));
}
