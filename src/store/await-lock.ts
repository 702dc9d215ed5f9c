import { TeamError } from "../errors.ts";
import { pause, steadyNow } from "../os/clock.ts";
import { readRecordLink } from "../os/files/symlink-record.ts";
import { ownerOf } from "./owner-lock.ts";

/**
 * While the lock goes from hand to hand, a process waits up to this many times as long, since no holder hangs. Which waiter
 * is next is a lottery: of 64 processes that never pause, the unluckiest in 32,000 turns lets 300 to 600 others go first.
 * So the wait suffices unless a change takes 100 ms.
 */
const MAX_WAITS = 4;
/** Milliseconds of waiting after which a process tries twice as often as at first, then three times, and so on. */
const AGE_MS = 2_000;

/** How long a process waits for the locks of one file. */
export interface LockWait {
  /** The file that is locked. */
  readonly path: string;
  /** Milliseconds to wait while one holder keeps the lock, and {@link MAX_WAITS} times that in all. */
  readonly waitMs: number;
  /** Returns a number from 0 up to 1; spreads the retries. */
  readonly random: () => number;
}

/** One lock to wait for. */
export interface WantedLock<T> {
  /** Tries once. @returns undefined while another process holds the lock */
  readonly take: () => T | undefined;
  /** Returns a text that differs each time the lock is taken. */
  readonly holder: () => string | undefined;
  /** The path of the holder's record, if the holder is one of our processes. */
  readonly record: string;
  /** Milliseconds between two tries: at least `least`, and up to `spread` more. */
  readonly retry: { readonly least: number; readonly spread: number };
}

/**
 * Retries until the lock is taken.
 * @returns the lock, and the number of tries
 * @throws TeamError LOCK_TIMEOUT
 */
export async function awaitLock<T>(
  { path, waitMs, random }: LockWait,
  { take, holder, record, retry }: WantedLock<T>,
): Promise<{ readonly taken: T; readonly tries: number }> {
  const since = steadyNow();
  let waits = 1;
  let held: string | undefined;
  for (let tries = 1; ; tries += 1) {
    const taken = take();
    if (taken !== undefined) return { taken, tries };
    if (tries === 1) held = holder();
    const waited = steadyNow() - since;
    if (waited >= waits * waitMs) {
      const before = held;
      held = holder();
      if (held === before || waits === MAX_WAITS) {
        throw timedOut(path, waited, ownerOf(readRecordLink(record) ?? "")?.pid);
      }
      waits += 1;
    }
    // Tries more often with age: otherwise the unluckiest of many would wait much longer than all others.
    const age = 1 + waited / AGE_MS;
    await pause(retry.least + (random() * retry.spread) / age);
  }
}

function timedOut(path: string, waited: number, pid: number | undefined): TeamError {
  const holder = pid === undefined ? "another program" : `process ${pid}`;
  return new TeamError(
    "LOCK_TIMEOUT",
    `${path} was locked for ${Math.round(waited / 1000)} s by ${holder}; nothing was changed.`,
    { hint: "Try again. If that process hangs, end it: its lock is then free at once." },
  );
}
