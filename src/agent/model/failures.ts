import type { ModelFailure } from "./model.ts";

/** Error messages for a prompt that is longer than the window: Anthropic's two, and those of other servers. */
const TOO_LONG =
  /prompt is too long|exceeds? (the )?(context|maximum)|maximum context length|context (length|window|size)|input (is )?too long/i;

/** Error messages for a lasting limit of the account: its credit, or its daily, weekly or monthly usage. */
const USED_UP =
  /(usage|spend(ing)?) limits?|credit balance|exceeded your current quota|insufficient[_ ]quota|limit reached\|\d|regain access/i;
/** The HTTP statuses that come with such a message. */
const LIMIT_STATUSES: ReadonlySet<number> = new Set([400, 402, 403, 429]);

/** Maps an HTTP status of the Messages API to a kind of failure. @param message the server's error message */
export function failureKind(status: number, message = ""): ModelFailure {
  if (status === 413 || (status === 400 && TOO_LONG.test(message))) return "too_long";
  if (LIMIT_STATUSES.has(status) && USED_UP.test(message)) return "limited";
  if (status === 401 || status === 403) return "auth";
  if (status === 429) return "rate_limited";
  if (status === 529) return "overloaded";
  if (status === 408 || status === 409) return "server";
  return status >= 500 ? "server" : "invalid_request";
}

/** Returns true if the same call may succeed soon. */
export function isRetryable(kind: ModelFailure): boolean {
  return kind !== "auth" && kind !== "invalid_request" && kind !== "too_long" && kind !== "limited";
}

/** Reads the maximum number of tokens from a server's error about a prompt that is too long; undefined if the error names none. */
export function tokenLimit(message: string): number | undefined {
  const limit = /(?:> ?|maximum context length is |limit (?:of|is) )(\d{3,})/i.exec(message)?.[1];
  return limit === undefined ? undefined : Number(limit);
}
