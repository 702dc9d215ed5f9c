import { isRetryable } from "./failures.ts";
import type { ModelFailure } from "./model.ts";
import { waitOf } from "./rate-limits.ts";

/** Maximum attempts of one call: with the delays below they cover about five minutes. */
export const MAX_ATTEMPTS = 10;
/** Milliseconds before the second attempt, doubled for each additional attempt, up to the maximum. */
const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 60_000;
/** A call ends as limited if the server asks for a longer wait. */
const MAX_RETRY_AFTER_MS = 60_000;
/** Random part of a delay, as a share of it: the agents of a team must not all retry at once, however long they wait. */
const JITTER = 0.25;

/** Returns a server's requested delay in milliseconds, from `retry-after-ms`, or `retry-after` in seconds or as a date. */
export function retryAfterMs(
  headers: { get(name: string): string | null } | undefined,
  now: number,
): number | undefined {
  const exact = Number(headers?.get("retry-after-ms") || Number.NaN);
  if (exact >= 0) return waitOf(exact, now);
  const after = headers?.get("retry-after")?.trim();
  if (!after) return undefined;
  const seconds = Number(after);
  return waitOf(Number.isNaN(seconds) ? Date.parse(after) - now : seconds * 1000, now);
}

interface FailedAttempt {
  readonly kind: ModelFailure;
  /** The number of attempts, including this one. */
  readonly attempt: number;
  readonly retryAfterMs?: number | undefined;
  /** Whether the server advises another attempt. */
  readonly shouldRetry?: boolean | undefined;
}

/** Returns true if a call that is not retried failed at a lasting limit, and not by a fault. */
export function isLimited({ kind, retryAfterMs: asked = 0 }: FailedAttempt): boolean {
  if (kind === "limited" || kind === "rate_limited") return true;
  return isRetryable(kind) && asked > MAX_RETRY_AFTER_MS;
}

/**
 * Returns the delay before the next attempt in milliseconds; undefined to give up. The delay is never shorter than the server asks
 * for. If the server asks for 0, the usual delay applies: otherwise all agents would retry together, and soon give up.
 * @param random from 0 to 1
 */
export function nextDelay(failed: FailedAttempt, random: number): number | undefined {
  const { kind, attempt, retryAfterMs: asked, shouldRetry } = failed;
  if (!isRetryable(kind) || shouldRetry === false || attempt >= MAX_ATTEMPTS) return undefined;
  if (asked !== undefined && asked > MAX_RETRY_AFTER_MS) return undefined;
  const backoff = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1));
  if (asked !== undefined && asked > 0) return Math.round(asked * (1 + JITTER * random));
  return Math.round(backoff * (1 - JITTER * random));
}
