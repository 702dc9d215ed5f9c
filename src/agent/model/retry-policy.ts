import { isRetryable } from "./failures.ts";
import type { ModelFailure } from "./model.ts";

/** Tries of one call in all: with the delays below some five minutes of trouble are outlasted. */
export const MAX_ATTEMPTS = 10;
/** Milliseconds before the second try; doubled for each further one, up to the longest. */
const FIRST_DELAY_MS = 1000;
const LONGEST_DELAY_MS = 60_000;
/** A server that asks for a longer wait has said no. */
const MAX_RETRY_AFTER_MS = 15 * 60_000;
/** How much of a delay is left to chance, so that a team does not come back all at once. */
const JITTER = 0.25;

/** What a server says about when to come back, in milliseconds: `retry-after-ms`, or `retry-after` in seconds or as a date. */
export function retryAfterMs(
  headers: { get(name: string): string | null } | undefined,
  now: number,
): number | undefined {
  const exact = Number(headers?.get("retry-after-ms") || Number.NaN);
  if (exact >= 0) return exact;
  const after = headers?.get("retry-after")?.trim();
  if (!after) return undefined;
  const seconds = Number(after);
  const ms = Number.isNaN(seconds) ? Date.parse(after) - now : seconds * 1000;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

interface FailedTry {
  readonly kind: ModelFailure;
  /** How many tries there were, this one included. */
  readonly attempt: number;
  readonly retryAfterMs?: number | undefined;
  /** The server's own word on whether another try has sense. */
  readonly shouldRetry?: boolean | undefined;
}

/**
 * How long to wait before the next try, in milliseconds; undefined: give up. A server's own time is kept to, never less.
 * @param random from 0 to 1
 */
export function nextDelay(failed: FailedTry, random: number): number | undefined {
  const { kind, attempt, retryAfterMs: asked, shouldRetry } = failed;
  if (!isRetryable(kind) || shouldRetry === false || attempt >= MAX_ATTEMPTS) return undefined;
  if (asked !== undefined && asked > MAX_RETRY_AFTER_MS) return undefined;
  const backoff = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1));
  if (asked !== undefined) return Math.round(asked + Math.min(asked, FIRST_DELAY_MS) * JITTER * random);
  return Math.round(backoff * (1 - JITTER * random));
}
