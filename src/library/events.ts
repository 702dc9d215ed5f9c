import { fileAccessError, isSystemError } from "../errors.ts";
import { moveAfterRename, teamBell } from "../operations/follow-team.ts";
import { systemClock } from "../os/clock.ts";
import { KeptFile } from "../os/files/followed-file.ts";
import { versionOf } from "../os/files/fs.ts";
import { teamEvent } from "../schema/event.ts";
import { parseJsonLine } from "../store/jsonl.ts";
import { teamExists } from "../team/config/config.ts";
import type { TeamRef } from "../team/ref.ts";
import { rotatedPath } from "../telemetry/event-log.ts";
import { attempt } from "./attempt.ts";
import { timeOf } from "./checks.ts";
import type { EventsOptions } from "./options.ts";
import type { TeamEvent } from "./values.ts";

/** Milliseconds between two polls for a team that does not exist yet. */
const POLL_MS = 100;
/** The time of a file may lag behind the clock by this many milliseconds. */
const COARSE_MS = 1_000;

const parse = parseJsonLine(teamEvent);

/** The events of a team to follow, and for how long. */
interface FollowOptions extends EventsOptions {
  /** Continues while the team does not exist: its run has not created it yet, or deletes it before the run ends. */
  readonly isExpected?: boolean;
  readonly isWanted?: (event: TeamEvent) => boolean;
  /** Where the run has copied the events, in case the log was deleted before it could be read. */
  readonly copy?: string;
}

/**
 * Iterates over the events of a team. `return` ends the iteration at once, even during a wait, and closes its files.
 * @param ref follows the team if it is renamed
 * @throws TeamError INVALID_INPUT for an invalid time
 */
export function followEvents(ref: TeamRef, following: FollowOptions = {}): AsyncIterableIterator<TeamEvent> {
  const stop = new AbortController();
  const signals = following.signal === undefined ? [stop.signal] : [stop.signal, following.signal];
  // Without a time, all events after this call: a caller may act before it iterates.
  const after = timeOf(following.since) ?? systemClock.now();
  const events = generate(ref, following, after, AbortSignal.any(signals));
  return {
    next: () => attempt(undefined, () => events.next()),
    return: () => {
      stop.abort();
      return attempt(undefined, () => events.return(undefined));
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

async function* generate(
  ref: TeamRef,
  { since, isExpected = false, isWanted = () => true, copy }: FollowOptions,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<TeamEvent, undefined> {
  const log = new KeptFile(() => ref.paths.events);
  let isRead = false;
  const read = (lines: () => readonly string[]): readonly TeamEvent[] => {
    const found = linesOf(ref, lines).flatMap(
      (text) => parse(text) as readonly unknown[] as readonly TeamEvent[],
    );
    isRead ||= found.length > 0;
    return found.filter((event) => Date.parse(event.ts) >= after && isWanted(event));
  };
  let bell = teamBell(ref);
  try {
    // Read both logs before the first yield: the log may be rotated before the caller asks for the next event. The current
    // log is opened first: a rotation between the two reads then loses no event, and a repeated log is recognized.
    const current = read(() => log.lines());
    if (since !== undefined || isRotatedSince(ref, after)) yield* read(() => rotatedLines(ref, log));
    yield* current;
    for (;;) {
      const isLast = signal.aborted;
      yield* read(() => log.lines());
      if (isLast) {
        if (!isRead && copy !== undefined) yield* read(() => allLines(copy));
        return undefined;
      }
      if (moveAfterRename(ref)) {
        bell.close();
        bell = teamBell(ref);
        continue;
      }
      if (!isExpected && !teamExists(ref)) {
        // Lines that were written between the read and the check.
        yield* read(() => log.lines());
        return undefined;
      }
      // A directory that does not exist yet cannot be watched, and a short run may delete it soon.
      await bell.wait({ signal, ...(isExpected && !teamExists(ref) && { timeoutMs: POLL_MS }) });
    }
  } finally {
    bell.close();
    log.close();
  }
}

/** Whether new events may be in the rotated log: a caller may iterate long after its call. */
function isRotatedSince({ paths }: TeamRef, time: number): boolean {
  const { changedMs = 0 } = versionOf(rotatedPath(paths.events)) ?? {};
  return changedMs >= time - COARSE_MS;
}

/** Returns the lines of the rotated log; none if it is the log that was read as the current one. */
function rotatedLines({ paths }: TeamRef, current: KeptFile): readonly string[] {
  const rotated = new KeptFile(() => rotatedPath(paths.events));
  try {
    const lines = rotated.lines();
    return rotated.isSameFile(current) ? [] : lines;
  } finally {
    rotated.close();
  }
}

/** Returns the lines of a file; none if it is missing. */
function allLines(path: string): readonly string[] {
  const file = new KeptFile(() => path);
  try {
    return file.lines();
  } finally {
    file.close();
  }
}

/** @throws TeamError STORAGE_ERROR, PERMISSION_DENIED if the log cannot be read */
function linesOf({ paths }: TeamRef, lines: () => readonly string[]): readonly string[] {
  try {
    return lines();
  } catch (error) {
    throw isSystemError(error) ? fileAccessError(paths.events, "read", error) : error;
  }
}
