import type * as z from "zod/mini";
import { isSystemError, systemRefusal, TeamError } from "../errors.ts";
import { pauseSync } from "../os/clock.ts";
import { readText } from "../os/files/fs.ts";
import { firstIssue, parseInWords } from "../schema/zod-helpers.ts";
import { formatJson } from "./format-json.ts";
import type { Plan } from "./update-file.ts";

/** How long a foreign writer that writes in place may need to end; then the file is read once more. */
export const REREAD_MS = 20;

/**
 * Reads a file of JSON; one that does not parse is read again once, since a foreign writer may be in the middle.
 * @param wait gives that writer its time
 * @returns undefined when the file is not there
 * @throws TeamError CORRUPT_FILE, with the file left as it is; PERMISSION_DENIED with what the system said
 */
export function readJsonFile<T>(
  path: string,
  schema: z.core.$ZodType<T>,
  wait: () => void = () => pauseSync(REREAD_MS),
): T | undefined {
  const first = attempt(path, schema);
  if (!("flaw" in first)) return first.value;
  wait();
  const second = attempt(path, schema);
  if (!("flaw" in second)) return second.value;
  throw corruptFile(path, second.flaw);
}

/**
 * Reads a record: a file that comes into being whole and has one writer, so that what does not parse is somebody's mistake
 * and tells nothing.
 * @returns undefined when there is no such record
 * @throws TeamError PERMISSION_DENIED with what the system said
 */
export function readRecordFile<T>(path: string, schema: z.core.$ZodType<T>): T | undefined {
  const read = attempt(path, schema);
  return "flaw" in read ? undefined : read.value;
}

interface JsonChange<T> {
  readonly path: string;
  readonly schema: z.core.$ZodType<T>;
  /** What is thrown when the file is not there. */
  readonly missing: () => Error;
  /** Undefined means no change. May run more than once, so it has no other effect. */
  readonly change: (current: T) => T | undefined;
}

/**
 * A change of a file of JSON, as a plan for `changeFile`, which tells the caller what the file holds then.
 * @throws TeamError CORRUPT_FILE from the plan, with the file left as it is
 */
export function jsonUpdate<T>({ path, schema, missing, change }: JsonChange<T>): Plan<T> {
  return (text, isLocked) => {
    const read = parse(text, schema);
    if ("flaw" in read && !isLocked) throw corruptFile(path, read.flaw);
    // A writer that keeps no lock may be in the middle even now, so that it is given its time.
    const current = "flaw" in read ? readJsonFile(path, schema) : read.value;
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

type Attempt<T> = { readonly value: T | undefined } | { readonly flaw: string };

function attempt<T>(path: string, schema: z.core.$ZodType<T>): Attempt<T> {
  try {
    return parse(readText(path), schema);
  } catch (error) {
    throw isSystemError(error) ? systemRefusal(path, "read", error) : error;
  }
}

function parse<T>(text: string | undefined, schema: z.core.$ZodType<T>): Attempt<T> {
  if (text === undefined) return { value: undefined };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Said in the error that follows the second look.
    return { flaw: text.trim() === "" ? "it is empty" : "it is not JSON" };
  }
  const parsed = parseInWords(schema, value);
  if (parsed.success) return { value: parsed.data };
  const issue = firstIssue(parsed.error);
  return { flaw: `${issue.path === "" ? "its content" : issue.path}: ${issue.message}` };
}

/** A file that cannot be read for what is in it. @param flaw one half of a sentence */
export function corruptFile(path: string, flaw: string): TeamError {
  return new TeamError("CORRUPT_FILE", `${path} cannot be read: ${flaw}. It was left as it is.`, {
    hint: "teams doctor says what is wrong with it, and teams doctor --fix saves what can be.",
    details: { file: path, flaw },
  });
}
