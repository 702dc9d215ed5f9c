import { messageOf } from "../errors.ts";
import { systemClock } from "../os/clock.ts";
import { fileSize, isMissing, rename } from "../os/files/fs.ts";
import { appendLines } from "../os/files/lines.ts";
import { ownSecrets, redactValue } from "../os/redact.ts";
import type { NewEvent } from "../schema/event.ts";

/**
 * Appends whole lines in one write, without waiting for the disk. A log that has grown past its bound makes way for a new one,
 * and the one before that goes: the newest lines are always there, at least so many bytes of them once there were.
 * @throws a system error when nothing was written
 */
export function appendBounded(path: string, lines: string, mostBytes: number): void {
  if (appendLines(path, lines, false) < mostBytes) return;
  // Another writer may have turned it over since: then this one is small again.
  if ((fileSize(path) ?? 0) >= mostBytes) rename(path, olderLog(path));
}

/** Where a log goes that made way: `events.jsonl` to `events.1.jsonl`. */
export function olderLog(path: string): string {
  return path.replace(/(\.[^./]*)?$/, ".1$1");
}

/** Whose log it is; a team as its reference has it. */
interface EventLog {
  readonly team: string;
  readonly paths: { readonly events: string };
}

/** Bytes of one file of events, of which there are two: some ten thousand calls of a model, and nobody's disk is full of them. */
const MOST_BYTES = 8 * 1024 * 1024;

let onFailure: ((text: string) => void) | undefined;

/** Names who hears, once, that this process cannot write events. */
export function tellEventFailure(to: (text: string) => void): void {
  onFailure = to;
}

/**
 * Writes down what happened. It is no part of what happened: nothing waits for the disk, and what cannot be written changes
 * nothing. Of a team that is gone there is nothing to be told.
 */
export function recordEvent({ team, paths }: EventLog, { type, ...facts }: NewEvent): void {
  const event = { ts: new Date(systemClock.now()).toISOString(), type, team, ...facts };
  try {
    appendBounded(paths.events, `${JSON.stringify(redactValue(event, ownSecrets()))}\n`, MOST_BYTES);
  } catch (error) {
    if (isMissing(error)) return;
    onFailure?.(`events are not written: ${messageOf(error)}`);
    onFailure = undefined;
  }
}
