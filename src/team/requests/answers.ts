import { formatProtocol } from "../../protocol/messages.ts";
import { addRules, type RuleDestination } from "../../protocol/permission-messages.ts";
import { LEAD_NAME, PERSON_NAME, SYSTEM_NAME } from "../../schema/names.ts";
import { eventMessageId, sendMessage } from "../mailbox/send.ts";
import type { TeamRef } from "../ref.ts";
import { type AnswerRecord, answerRequest, type RequestRecord, readAnswer, readRequest } from "./requests.ts";

/** The parts of an answer that the asker receives. */
type DeliveredAnswer = Pick<AnswerRecord, "approve" | "note" | "mode" | "always"> & {
  /** Where its rules are stored; default: in the asker's process, until that ends. */
  readonly destination?: RuleDestination;
};

/**
 * Sends the response to a request. Idempotent, so any process may send it. The lead's own requests get no protocol
 * message, since those go only from the lead to others: the answer to its question is a message from the person, and it
 * reads the answer to a permission request from the file.
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

/** Sends an existing answer again, in case the process that answered ended before it sent the answer. @returns whether there is an answer */
export async function resendAnswer(ref: TeamRef, id: string, now: number): Promise<boolean> {
  const answer = readAnswer(ref, id);
  if (answer === undefined) return false;
  await sendAnswer(ref, readRequest(ref, id), answer, now);
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
  // Access to a network host has its own message; its note and rules are ours, and other programs ignore them.
  if (typeof access === "object" && access !== null && "kind" in access && access.kind === "host") {
    const rules = approve && updates.length > 0 ? { permission_updates: updates } : {};
    return { type: "sandbox_permission_response", requestId: id, allow: approve, ...feedback, ...rules };
  }
  // The older of two forms: every version of Claude Code accepts it (interop.md).
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

/** Returns the choices of a question; none for other requests. */
export function choicesOf({ kind, payload }: Pick<RequestRecord, "kind" | "payload">): readonly string[] {
  const given = kind === "question" && Array.isArray(payload.choices) ? payload.choices : [];
  return given.filter((choice): choice is string => typeof choice === "string");
}

/** The default answer of a question, and the deadline after which it applies, in milliseconds since the epoch. */
export interface QuestionDefault {
  readonly answer: string;
  readonly deadline?: number;
}

/** Returns the default of a question; undefined if it has none, and for other requests. */
export function defaultOf({
  kind,
  payload,
}: Pick<RequestRecord, "kind" | "payload">): QuestionDefault | undefined {
  if (kind !== "question" || typeof payload.default !== "string") return undefined;
  const { default: answer, deadline } = payload;
  return typeof deadline === "number" ? { answer, deadline } : { answer };
}

/**
 * Answers an unanswered question with its default. Only for questions: a permission is never granted by a timeout.
 * @returns whether the default is the answer
 * @throws TeamError REQUEST_NOT_FOUND, and errors of {@link sendAnswer}: the next call then sends the answer
 */
export async function answerByDefault(ref: TeamRef, request: RequestRecord, now: number): Promise<boolean> {
  const known = defaultOf(request);
  if (known === undefined) return false;
  const note = `${known.answer} (your default: no answer came before the deadline)`;
  const answer = { approve: true, by: SYSTEM_NAME, note, at: now };
  if ((await answerRequest(ref, request.id, answer)) === "already") return false;
  await sendAnswer(ref, request, answer, now);
  return true;
}

/** Returns the answer to a question: a number selects the choice at that position, unless the number is itself a choice. */
export function resolveChoice(choices: readonly string[], input: string): string {
  const text = input.trim();
  if (!/^[0-9]{1,2}$/.test(text) || choices.includes(text)) return input;
  return choices[Number(text) - 1] ?? input;
}
