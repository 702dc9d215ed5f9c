import type { ModelFailure } from "./model.ts";

/** Error messages for a prompt that is longer than the window: Anthropic's two, and those of other servers. */
const TOO_LONG =
  /prompt is too long|exceeds? (the )?(context|maximum)|maximum context length|context (length|window|size)|input (is )?too long/i;

/** Error messages for a limit of the account that lasts: its credit, or its use for a day, a week or a month. */
const USED_UP =
  /(usage|spend(ing)?) limits?|credit balance|exceeded your current quota|insufficient[_ ]quota|limit reached\|\d|regain access/i;
/** The statuses with such a message. */
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

/** Reads the maximum number of tokens from a server's error message about a prompt that is too long. */
export function tokenLimit(message: string): number | undefined {
  const said = /(?:> ?|maximum context length is |limit (?:of|is) )(\d{3,})/i.exec(message)?.[1];
  return said === undefined ? undefined : Number(said);
}
