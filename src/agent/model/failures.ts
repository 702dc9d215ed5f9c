import type { ModelFailure } from "./model.ts";

/** What an HTTP status of the Messages API means for a call. */
export function failureKind(status: number): ModelFailure {
  if (status === 401 || status === 403) return "auth";
  if (status === 429) return "rate_limited";
  if (status === 529) return "overloaded";
  if (status === 408 || status === 409) return "server";
  return status >= 500 ? "server" : "invalid_request";
}

/** Whether the same call may go well a little later. */
export function mayPass(kind: ModelFailure): boolean {
  return kind !== "auth" && kind !== "invalid_request";
}
