import { isoTime } from "../../text/local-time.ts";
import type { Approval } from "./approvals.ts";

/** Returns a request as other programs get it: with times in ISO 8601, as in messages and events. */
export function approvalJson<T extends Pick<Approval, "at" | "deadline">>(approval: T): object {
  const { at, deadline } = approval;
  return { ...approval, at: isoTime(at), ...(deadline === undefined ? {} : { deadline: isoTime(deadline) }) };
}
