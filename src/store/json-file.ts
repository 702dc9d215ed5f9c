import type * as z from "zod/mini";
import { TeamError } from "../errors.ts";
import { pauseSync } from "../os/clock.ts";
import { readText, replaceFile } from "../os/fs.ts";
import { firstIssue, parseInWords } from "../schema/json.ts";
import { type Held, withLock } from "./lock.ts";

/** How long a foreign writer that writes in place may need to end; then the file is read once more. */
export const SECOND_LOOK_MS = 20;

/** JSON as peers write it: two spaces, no newline at the end. */
export function formatJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}

/**
 * Reads a file of JSON; one that does not parse is read again once, since a foreign writer may be in the middle.
 * @param wait gives that writer its time
 * @returns undefined when the file is not there
 * @throws TeamError CORRUPT_FILE, with the file left as it is
 */
export function readJsonFile<T>(
  path: string,
  schema: z.core.$ZodType<T>,
  wait: () => void = () => pauseSync(SECOND_LOOK_MS),
): T | undefined {
  const first = attempt(path, schema);
  if (!("flaw" in first)) return first.value;
  wait();
  const second = attempt(path, schema);
  if (!("flaw" in second)) return second.value;
  throw new TeamError("CORRUPT_FILE", `${path} cannot be read: ${second.flaw}. It was left as it is.`, {
    hint: "Mend or remove that file; teams doctor says what is wrong with it.",
    details: { file: path },
  });
}

/**
 * Reads a record: a file that comes into being whole and has one writer, so that what does not parse is somebody's mistake
 * and tells nothing.
 * @returns undefined when there is no such record
 */
export function readRecordFile<T>(path: string, schema: z.core.$ZodType<T>): T | undefined {
  const read = attempt(path, schema);
  return "flaw" in read ? undefined : read.value;
}

/**
 * Changes a file of JSON under its lock: the newest content is read, changed, and replaced whole.
 * @param change gets undefined when the file is not there; giving undefined back means no change. Runs again when the
 *   lock was lost, so it has no other effect.
 * @param options.verify called under the lock before anything is read; what it throws ends the change
 * @returns what the file holds now
 */
export async function updateJsonFile<T>(
  path: string,
  schema: z.core.$ZodType<T>,
  change: (current: T | undefined) => T | undefined,
  options: { readonly verify?: () => void } = {},
): Promise<T | undefined> {
  return withLock(path, (held) => {
    options.verify?.();
    return changeHeld(path, schema, held, change);
  });
}

/** The same for one who holds a lock that covers the file. */
export function changeHeld<T>(
  path: string,
  schema: z.core.$ZodType<T>,
  held: Held,
  change: (current: T | undefined) => T | undefined,
): T | undefined {
  const current = readJsonFile(path, schema);
  const next = change(current);
  if (next === undefined) return current;
  replaceFile(path, formatJson(next), { beforeRename: () => held.assertOwned() });
  return next;
}

type Attempt<T> = { readonly value: T | undefined } | { readonly flaw: string };

function attempt<T>(path: string, schema: z.core.$ZodType<T>): Attempt<T> {
  const text = readText(path);
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
