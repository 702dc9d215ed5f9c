import type { Approval } from "../../operations/approvals/approvals.ts";
import { asciiText } from "../../text/terminal-text.ts";
import type { SidebarApproval, SidebarData } from "../data.ts";
import type { Content } from "../documents.ts";

/** Escapes all characters beyond ASCII in the requests of the data, so that a terminal without UTF-8 shows each one. */
export function asciiData(data: SidebarData): SidebarData {
  return { ...data, status: { ...data.status, approvals: data.status.approvals.map(asciiApproval) } };
}

function asciiApproval(approval: SidebarApproval): SidebarApproval {
  const { summary, change } = approval;
  return {
    ...approval,
    summary: asciiText(summary),
    ...(change === undefined ? {} : { change: change.map(asciiText) }),
  };
}

/** Escapes a document as {@link asciiData} does if it is a whole request; returns any other document unchanged. */
export function asciiContent(content: Content): Content {
  return content.kind === "request" ? { ...content, request: asciiRequest(content.request) } : content;
}

/** Returns a request with escapes for all characters beyond ASCII, except in its id, kind and sender. */
export function asciiRequest<T extends Pick<Approval, "id" | "from" | "kind">>(request: T): T {
  const { id, from, kind } = request;
  return { ...(inAscii(request) as T), id, from, kind };
}

function inAscii(value: unknown): unknown {
  if (typeof value === "string") return asciiText(value);
  if (Array.isArray(value)) return value.map(inAscii);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [asciiText(key), inAscii(inner)]));
}
