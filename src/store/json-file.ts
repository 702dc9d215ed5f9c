import { fileAccessError, isSystemError, TeamError } from "../errors.ts";
import { pauseSync, systemClock } from "../os/clock.ts";
import { formatJson } from "../os/files/atomic-write.ts";
import { entryOf, readText, versionOf } from "../os/files/fs.ts";
import { isLockedElsewhere } from "../os/files/lock-state.ts";
import { parseShape, type Shape } from "../schema/guards/guard.ts";
import { firstIssue, inOrderOf } from "../schema/zod-helpers.ts";
import type { Update } from "./update-file.ts";

/** Milliseconds after which a file that does not parse is read once more, if no program has changed it recently. */
export const REREAD_MS = 20;
/**
 * Total milliseconds for which a recently changed file is reread. Some programs write in place: under load such a file
 * was empty, truncated or followed by garbage for up to 168 ms (interop.md).
 */
const CHANGED_MS = 500;
/** Like CHANGED_MS, while another program holds the file's lock. Shorter than a lock takes to become stale: its holder may be dead. */
const LOCKED_MS = 2_000;
/** Milliseconds after the last change of a file until its writer has certainly finished, even by the clock of a file server. */
const SETTLED_MS = 10_000;
/** Milliseconds of the first pause. Each later one is twice as long: a busy writer leaves the file whole only briefly. */
const FIRST_PAUSE_MS = 2;
/** Maximum milliseconds of a pause. */
const MAX_PAUSE_MS = 16;

/** Keyed by path: the version of a file that stayed unreadable. This process does not wait for this version again. */
const unreadable = new Map<string, string>();

/**
 * Reads a JSON file. If it does not parse, it is read again for a while, since another program may be writing it. A file that
 * parses costs no additional system call.
 * @param wait waits for that writer, in milliseconds
 * @returns undefined if the file is missing
 * @throws TeamError CORRUPT_FILE, with the file unchanged; STORAGE_ERROR or PERMISSION_DENIED with the system error
 */
export function readJsonFile<T>(
  path: string,
  shape: Shape<T>,
  wait: (ms: number) => void = pauseSync,
): T | undefined {
  const read = rereadUntil(
    path,
    () => attempt(path, shape),
    (one) => !("problem" in one),
    wait,
  );
  if ("problem" in read) throw corruptFile(path, read.problem);
  return read.value;
}

/**
 * Reads a file again for a while if its content is not whole, since another program may be writing it. A whole file costs no
 * additional system call.
 * @param wait waits for that writer, in milliseconds
 * @returns the last read value
 */
export function rereadUntil<T>(
  path: string,
  read: () => T,
  isWhole: (read: T) => boolean,
  wait: (ms: number) => void = pauseSync,
): T {
  let last = read();
  let pauseMs = FIRST_PAUSE_MS;
  for (let waitedMs = 0; !isWhole(last); ) {
    const leftMs = patienceMs(path) - waitedMs;
    if (leftMs <= 0) {
      unreadable.set(path, versionMark(path));
      return last;
    }
    const ms = Math.min(pauseMs, leftMs);
    wait(ms);
    waitedMs += ms;
    pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
    last = read();
  }
  return last;
}

/** Returns the total milliseconds to wait for an unreadable file. */
function patienceMs(path: string): number {
  if (unreadable.get(path) === versionMark(path)) return 0;
  if (isLockedElsewhere(path)) return LOCKED_MS;
  return systemClock.now() - Number(entryOf(path)?.mtimeMs) > SETTLED_MS ? REREAD_MS : CHANGED_MS;
}

function versionMark(path: string): string {
  return Object.values(versionOf(path) ?? {}).join();
}

/**
 * Reads a record: a file that is created atomically by a single writer. A record that does not parse counts as missing.
 * @returns undefined if there is no such record
 * @throws TeamError STORAGE_ERROR or PERMISSION_DENIED with the system error
 */
export function readRecordFile<T>(path: string, shape: Shape<T>): T | undefined {
  const read = attempt(path, shape);
  return "problem" in read ? undefined : read.value;
}

interface JsonChange<T> {
  readonly path: string;
  readonly schema: Shape<T>;
  /** Returns the error to throw if the file is missing. */
  readonly missing: () => Error;
  /** Returns undefined for no change. May run more than once, so it must have no side effects. */
  readonly change: (current: T) => T | undefined;
}

/**
 * Returns a change of a JSON file for `updateFile`, whose result is the file's content afterwards. The change throws
 * TeamError CORRUPT_FILE, with the file unchanged, if the content cannot be read.
 */
export function jsonUpdate<T>({ path, schema, missing, change }: JsonChange<T>): Update<T> {
  return (text, isLocked) => {
    const read = parse(text, schema);
    if ("problem" in read && !isLocked) throw corruptFile(path, read.problem);
    // A program that takes no lock may be writing the file even now; wait for it.
    const current = "problem" in read ? readJsonFile(path, schema) : read.value;
    if (current === undefined) throw missing();
    const next = change(current);
    return next === undefined ? { value: current } : { value: next, content: writable(path, next) };
  };
}

function writable(path: string, value: unknown): string {
  try {
    return formatJson(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw corruptFile(path, "the new content is nested too deeply", "written");
  }
}

type Attempt<T> = { readonly value: T | undefined } | { readonly problem: string };

function attempt<T>(path: string, shape: Shape<T>): Attempt<T> {
  try {
    return parse(readText(path), shape);
  } catch (error) {
    throw isSystemError(error) ? fileAccessError(path, "read", error) : error;
  }
}

function parse<T>(text: string | undefined, shape: Shape<T>): Attempt<T> {
  if (text === undefined) return { value: undefined };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The problem is reported after the last read.
    return { problem: text.trim() === "" ? "it is empty" : "it is not JSON" };
  }
  const parsed = parseShape(shape, value);
  if (parsed.success) {
    // A guard returns the value itself.
    return { value: parsed.data === value ? parsed.data : inOrderOf(value, parsed.data) };
  }
  const issue = firstIssue(parsed.error);
  return { problem: `${issue.path === "" ? "its content" : issue.path}: ${issue.message}` };
}

/** Returns the error for a file with invalid content. @param problem a clause without a full stop */
export function corruptFile(path: string, problem: string, verb: "read" | "written" = "read"): TeamError {
  return new TeamError("CORRUPT_FILE", `${path} cannot be ${verb} (${problem}); the file was not changed.`, {
    hint: "To examine the file: teams doctor. To repair it: teams doctor --fix",
    details: { file: path, problem },
  });
}
