import { formatProtocol } from "../../protocol/messages.ts";
import { addRules, type RuleDestination } from "../../protocol/permission-messages.ts";
import { LEAD_NAME, PERSON_NAME } from "../../schema/names.ts";
import { eventMessageId } from "../mailbox/event-message-id.ts";
import { sendMessage } from "../mailbox/send.ts";
import type { TeamRef } from "../ref.ts";
import { type AnswerRecord, type RequestRecord, readAnswer, readRequest } from "./requests.ts";

/** What is told of an answer. */
type DeliveredAnswer = Pick<AnswerRecord, "approve" | "note" | "mode" | "always"> & {
  /** Where the rules are kept that it makes; with the asker alone, for as long as it runs, if not given. */
  readonly destination?: RuleDestination;
};

/**
 * Sends the one response, whoever finds that it has to be sent: a second time it is none. To the lead's own request there is
 * no protocol message: those go from the lead to others. The answer to a question is the person's words then, and that to a
 * permission is seen in its file.
 * @param now milliseconds since the epoch
 * @throws TeamError as {@link sendMessage} does
 */
export async function sendAnswer(
  ref: TeamRef,
  request: RequestRecord,
  answer: DeliveredAnswer,
  now: number,
): Promise<void> {
  const { id, from: to } = request;
  const messageId = eventMessageId("answered", id);
  const response = responseTo(request, answer);
  if (to !== LEAD_NAME) {
    const text = formatProtocol(response, new Date(now));
    await sendMessage(ref, { from: LEAD_NAME, to, text, messageId });
  } else if (response.type === "question_response") {
    const text = `Answer to your question ${response.requestId}: ${response.answer}`;
    await sendMessage(ref, { from: PERSON_NAME, to, text, messageId });
  }
}

/** Sends what was answered and perhaps never told, since whoever answered ended before that. @returns whether there is an answer */
export async function resendAnswer(ref: TeamRef, id: string, now: number): Promise<boolean> {
  const given = readAnswer(ref, id);
  if (given === undefined) return false;
  await sendAnswer(ref, readRequest(ref, id), given, now);
  return true;
}

function responseTo(request: RequestRecord, answer: DeliveredAnswer): Parameters<typeof formatProtocol>[0] {
  const { id, kind } = request;
  const { approve, mode } = answer;
  const note = answer.note === "" ? undefined : answer.note;
  if (kind === "permission") return permissionResponse(request, note, answer);
  if (kind === "question") {
    return { type: "question_response", requestId: id, answer: note ?? (approve ? "yes" : "no") };
  }
  return {
    type: "plan_approval_response",
    requestId: id,
    approved: approve,
    ...(note === undefined ? {} : { feedback: note }),
    ...(mode === undefined ? {} : { permissionMode: mode }),
  };
}

function permissionResponse(
  { id, payload: { access, input } }: RequestRecord,
  note: string | undefined,
  { approve, always, destination = "session" }: DeliveredAnswer,
): Parameters<typeof formatProtocol>[0] {
  const updates = always === undefined ? [] : [addRules(always, destination)];
  const feedback = note === undefined ? {} : { feedback: note };
  // A host of the network is answered in a form of its own; note and rules in it are ours, and a peer does without.
  if (typeof access === "object" && access !== null && "kind" in access && access.kind === "host") {
    const rules = approve && updates.length > 0 ? { permission_updates: updates } : {};
    return { type: "sandbox_permission_response", requestId: id, allow: approve, ...feedback, ...rules };
  }
  // The older of the two forms: every version of a real peer takes it (interop.md).
  return approve
    ? {
        type: "permission_response",
        request_id: id,
        subtype: "success",
        response: { updated_input: input ?? {}, permission_updates: updates },
        ...feedback,
      }
    : {
        type: "permission_response",
        request_id: id,
        subtype: "error",
        error: note ?? "Refused by the lead.",
      };
}

/** The answers that a question offers; none of what is no question, or offers none. */
export function choicesOf({ kind, payload }: Pick<RequestRecord, "kind" | "payload">): readonly string[] {
  const given = kind === "question" && Array.isArray(payload.choices) ? payload.choices : [];
  return given.filter((choice): choice is string => typeof choice === "string");
}

/** What somebody answers to a question with these choices: one of them by its number, unless that is itself one of them. */
export function resolveChoice(choices: readonly string[], said: string): string {
  const text = said.trim();
  if (!/^[0-9]{1,2}$/.test(text) || choices.includes(text)) return said;
  return choices[Number(text) - 1] ?? said;
}
