import { fileAccessError, isSystemError, TeamError } from "../errors.ts";
import { pauseSync } from "../os/clock.ts";
import { formatJson } from "../os/files/atomic-write.ts";
import { readText } from "../os/files/fs.ts";
import { parseShape, type Shape } from "../schema/guards/guard.ts";
import { firstIssue } from "../schema/zod-helpers.ts";
import type { Update } from "./update-file.ts";

/** Milliseconds to wait for another program that writes a file in place, before the file is read again. */
export const REREAD_MS = 20;

/**
 * Reads a JSON file. If it does not parse, it is read once more, since another program may be writing it.
 * @param wait waits for that writer
 * @returns undefined if the file is missing
 * @throws TeamError CORRUPT_FILE, with the file unchanged; PERMISSION_DENIED with the system error
 */
export function readJsonFile<T>(
  path: string,
  shape: Shape<T>,
  wait: () => void = () => pauseSync(REREAD_MS),
): T | undefined {
  const first = attempt(path, shape);
  if (!("problem" in first)) return first.value;
  wait();
  const second = attempt(path, shape);
  if (!("problem" in second)) return second.value;
  throw corruptFile(path, second.problem);
}

/**
 * Reads a record: a file that is created atomically by a single writer. A record that does not parse counts as missing.
 * @returns undefined if there is no such record
 * @throws TeamError PERMISSION_DENIED with the system error
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
    throw corruptFile(path, "it is nested too deeply to be written again");
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
    // Reported after the second read.
    return { problem: text.trim() === "" ? "it is empty" : "it is not JSON" };
  }
  const parsed = parseShape(shape, value);
  if (parsed.success) return { value: parsed.data };
  const issue = firstIssue(parsed.error);
  return { problem: `${issue.path === "" ? "its content" : issue.path}: ${issue.message}` };
}

/** Returns the error for a file with invalid content. @param problem a clause without a full stop */
export function corruptFile(path: string, problem: string): TeamError {
  return new TeamError("CORRUPT_FILE", `${path} cannot be read: ${problem}. It was left as it is.`, {
    hint: "Run teams doctor to examine it, and teams doctor --fix to repair it.",
    details: { file: path, flaw: problem },
  });
}
