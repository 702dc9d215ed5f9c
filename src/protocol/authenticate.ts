import { LEAD_NAME, SYSTEM_NAME, splitAddress } from "../schema/names.ts";
import { type ProtocolMessage, type ProtocolType, parseProtocol } from "./messages.ts";

/** Only the lead may send these, to other members (protocol.md section 4, Rules). */
const FROM_LEAD: ReadonlySet<ProtocolType> = new Set<ProtocolType>([
  "shutdown_request",
  "plan_approval_response",
  "permission_response",
  "sandbox_permission_response",
  "team_permission_update",
  "mode_set_request",
  "question_response",
]);

/** Requests and reports to the lead; in any other inbox they mean nothing. */
const TO_LEAD: ReadonlySet<ProtocolType> = new Set<ProtocolType>([
  "idle_notification",
  "task_completed",
  "shutdown_approved",
  "shutdown_rejected",
  "teammate_terminated",
  "plan_approval_request",
  "permission_request",
  "sandbox_permission_request",
  "question_request",
]);

/**
 * Parses a message as a protocol message that its sender may send to this reader; undefined for anything else, which is
 * plain text. The transport sets `from`; a sender named inside the message must be the same.
 */
export function authenticProtocol(
  message: { readonly from: string; readonly text: string },
  reader: string,
): ProtocolMessage | undefined {
  const parsed = parseProtocol(message.text);
  if (parsed === undefined) return undefined;
  const from = splitAddress(message.from).name;
  return isAuthentic(parsed.type, from, reader) && namesSender(parsed, from) ? parsed : undefined;
}

function isAuthentic(type: ProtocolType, from: string, reader: string): boolean {
  // Only the system reports an agent's end; a member never does.
  if (type === "teammate_terminated" && from !== SYSTEM_NAME) return false;
  // Also valid for the lead's own inbox: a person who leads may interrupt or resume the lead's turn, and end its background work.
  if (/^(interrupt|resume|background_end)_request$/.test(type)) return from === LEAD_NAME;
  if (FROM_LEAD.has(type)) return from === LEAD_NAME && reader !== LEAD_NAME;
  return !TO_LEAD.has(type) || reader === LEAD_NAME;
}

/** True if the message names no other sender; a missing field is fine. */
function namesSender(message: ProtocolMessage, from: string): boolean {
  return ["from", "agent_id", "assignedBy"].every((field) => {
    const inner = (message as Readonly<Record<string, unknown>>)[field];
    if (inner === undefined || inner === "") return true;
    return typeof inner === "string" && splitAddress(inner).name === from;
  });
}
