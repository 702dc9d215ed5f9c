import { messageOf } from "../errors.ts";
import { systemClock } from "../os/clock.ts";
import { entryOf, fileSize, isMissing, removeFile, rename } from "../os/files/fs.ts";
import { appendLines } from "../os/files/lines.ts";
import { STALE_MS } from "../os/files/lock-state.ts";
import { createRecordLink } from "../os/files/symlinks.ts";
import { ownSecrets, redactValue } from "../os/redact.ts";
import type { NewEvent } from "../schema/event.ts";

/**
 * Appends whole lines in one write, without fsync. If the file then has more than `maxBytes`, it is rotated and replaces the
 * previous rotated file. The newest `maxBytes` are therefore always kept.
 * @throws a system error if nothing was written
 */
export function appendRotating(path: string, lines: string, maxBytes: number): void {
  if (appendLines(path, lines, false) >= maxBytes) rotate(path, maxBytes);
}

/** Only one process rotates at a time: a second one would replace the rotated file with the new, short one. */
function rotate(path: string, maxBytes: number): void {
  const claim = `${path}.rotating`;
  if (!createRecordLink(claim, String(process.pid))) {
    const since = entryOf(claim)?.mtimeMs;
    // Left by a killed process. A later line rotates the file.
    if (since !== undefined && Math.abs(systemClock.now() - Number(since)) > STALE_MS) removeFile(claim);
    return;
  }
  try {
    // Another process may have rotated the file before this one claimed it.
    if ((fileSize(path) ?? 0) >= maxBytes) rename(path, rotatedPath(path));
  } finally {
    removeFile(claim);
  }
}

/** Returns the path of the rotated file: `events.1.jsonl` for `events.jsonl`. */
export function rotatedPath(path: string): string {
  return path.replace(/(\.[^./]*)?$/, ".1$1");
}

/** The team whose log it is; a `TeamRef` fits. */
interface EventLog {
  readonly team: string;
  readonly paths: { readonly events: string };
}

/** Bytes of one file of events (there are two): enough for tens of thousands of model calls. */
const MAX_BYTES = 8 * 1024 * 1024;

let onFailure: ((text: string, path: string) => void) | undefined;

/** Sets the function that is called when this process cannot write an event, with the error's text and the path of the log. */
export function onEventFailure(report: (text: string, path: string) => void): void {
  onFailure = report;
}

/**
 * Records an event in the team's log, with secrets redacted and without fsync. Never throws: an event that cannot be written does
 * not affect the operation. Does nothing if the team was deleted.
 */
export function recordEvent({ team, paths }: EventLog, { type, ...facts }: NewEvent): void {
  const event = { ts: new Date(systemClock.now()).toISOString(), type, team, ...facts };
  try {
    appendRotating(paths.events, `${JSON.stringify(redactValue(event, ownSecrets()))}\n`, MAX_BYTES);
  } catch (error) {
    if (!isMissing(error)) onFailure?.(`events cannot be written: ${messageOf(error)}`, paths.events);
  }
}
