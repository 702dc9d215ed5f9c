import { LEAD_NAME, SYSTEM_NAME, splitAddress } from "../schema/names.ts";
import { type ProtocolMessage, type ProtocolType, parseProtocol } from "./messages.ts";

/** Only the lead decides these, about others (protocol.md section 4, Rules). */
const FROM_LEAD: ReadonlySet<ProtocolType> = new Set<ProtocolType>([
  "shutdown_request",
  "plan_approval_response",
  "permission_response",
  "sandbox_permission_response",
  "team_permission_update",
  "mode_set_request",
  "question_response",
]);

/** These ask or tell the lead something; in anybody else's inbox they mean nothing. */
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
 * Reads a message as the protocol message that its sender may send to this reader; anything else is plain text and gives
 * undefined. `from` is the envelope's, set by the transport, and the sender named inside must be the same.
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
  // An agent's end is told by the system, never by a member.
  if (type === "teammate_terminated" && from !== SYSTEM_NAME) return false;
  // A person who leads stops the lead's own turn as well.
  if (type === "interrupt_request") return from === LEAD_NAME;
  if (FROM_LEAD.has(type)) return from === LEAD_NAME && reader !== LEAD_NAME;
  return !TO_LEAD.has(type) || reader === LEAD_NAME;
}

/** A field that is left out names nobody else. */
function namesSender(message: ProtocolMessage, from: string): boolean {
  return ["from", "agent_id", "assignedBy"].every((field) => {
    const inner = (message as Readonly<Record<string, unknown>>)[field];
    if (inner === undefined || inner === "") return true;
    return typeof inner === "string" && splitAddress(inner).name === from;
  });
}
