import { TeamError } from "../errors.ts";
import { operand } from "../os/shell-words.ts";
import { formatProtocol } from "../protocol/messages.ts";
import { addRules, type RuleDestination } from "../protocol/permission-updates.ts";
import { permissionMode } from "../schema/config.ts";
import { defined } from "../schema/defined.ts";
import { LEAD_NAME } from "../schema/names.ts";
import type { PermissionMode } from "../schema/permission-modes.ts";
import { readTeam } from "../team/config.ts";
import { eventId } from "../team/event-id.ts";
import { deliver } from "../team/mailbox.ts";
import type { TeamRef } from "../team/ref.ts";
import {
  answerRequest,
  listRequests,
  type RequestRecord,
  readAnswer,
  readRequest,
} from "../team/requests.ts";
import { type LeadContext, requireLead } from "./context.ts";
import { exceeds, leadsMode } from "./modes.ts";

/** Who a person's words to the lead are from. */
const PERSON = "user";

/** One thing that waits for somebody: a row of `approvals --json` (product.md). */
export interface Approval {
  readonly id: string;
  readonly kind: "plan" | "permission" | "question" | "crash";
  readonly from: string;
  readonly summary: string;
  readonly at: number;
  /** Answers that a question offers. */
  readonly choices?: readonly string[];
}

export interface ApprovalAnswer {
  readonly approve: boolean;
  /** Feedback on a plan, the reason of a refusal, the answer to a question. */
  readonly note?: string;
  /** The mode that an approved plan goes on in. */
  readonly mode?: PermissionMode;
  /** The rules that an allowance makes besides, and where they are kept: not only by the agent, for as long as it runs. */
  readonly always?: { readonly rules: readonly string[]; readonly destination: RuleDestination };
  /** Who decides: of a model only plans are taken (protocol.md section 4). A person without it. */
  readonly decider?: "person" | "model";
}

/** What waits, oldest first. */
export function listApprovals(ref: TeamRef): readonly Approval[] {
  return listRequests(ref).map(approvalOf);
}

function approvalOf(request: RequestRecord): Approval {
  const { id, kind, from, summary, at } = request;
  const choices = choicesOf(request);
  return { id, kind, from, summary, at, ...(choices.length === 0 ? {} : { choices }) };
}

function choicesOf({ kind, payload }: RequestRecord): readonly string[] {
  const given = kind === "question" && Array.isArray(payload.choices) ? payload.choices : [];
  return given.filter((choice): choice is string => typeof choice === "string");
}

/**
 * Answers a request and sends the one response; of several answers the first counts.
 * @throws TeamError NOT_LEAD, REQUEST_NOT_FOUND, ALREADY_ANSWERED, INVALID_INPUT where a choice is asked for and none is given,
 * PERMISSION_DENIED for a model that would decide more than a plan
 */
export async function answerApproval(
  ctx: LeadContext,
  id: string,
  answer: ApprovalAnswer,
): Promise<Approval> {
  requireLead(ctx, "approve or reject");
  const request = readRequest(ctx.ref, id);
  const { decider = "person", always, ...decision } = answer;
  if (decider === "model" && request.kind !== "plan") {
    throw new TeamError(
      "PERMISSION_DENIED",
      `${id} is no plan; only a person answers it. Nothing was sent.`,
      {
        hint: "A person answers in the agent's pane, in the sidebar or by teams approve.",
      },
    );
  }
  if (
    decider === "model" &&
    answer.mode !== undefined &&
    exceeds(answer.mode, leadsMode(readTeam(ctx.ref)))
  ) {
    throw new TeamError(
      "PERMISSION_DENIED",
      `A lead's model cannot give the mode ${answer.mode}, which is more than it has. Nothing was sent.`,
      { hint: "Leave the mode out, or ask the person." },
    );
  }
  const response = responseTo(request, answer);
  const rules = always?.rules.slice();
  const record = defined({ ...decision, always: rules, by: ctx.actor, at: ctx.clock.now() });
  if ((await answerRequest(ctx.ref, id, record)) === "already") {
    await sayAgain(ctx, request);
    throw new TeamError("ALREADY_ANSWERED", `${id} was answered before; that answer stands.`, {
      hint: "See what still waits: teams approvals",
    });
  }
  await respond(ctx, request, response);
  return approvalOf(request);
}

/** An answer whose giver ended before it was sent: the asker, which still waits, gets it now, and once. */
async function sayAgain(ctx: LeadContext, request: RequestRecord): Promise<void> {
  const given = readAnswer(ctx.ref, request.id);
  if (given === undefined) return;
  const { approve, note, always } = given;
  const mode = permissionMode.safeParse(given.mode);
  const answer = defined({
    approve,
    note,
    mode: mode.success ? mode.data : undefined,
    always: always && { rules: always, destination: "session" as const },
  });
  await respond(ctx, request, responseTo(request, answer));
}

/**
 * Sends the one response. To the lead's own request there is no protocol message: those go from the lead to others. The
 * answer to a question is the person's words then, and that to a permission is seen in its file.
 */
async function respond(
  ctx: LeadContext,
  { id, from: to }: RequestRecord,
  response: ReturnType<typeof responseTo>,
): Promise<void> {
  const messageId = eventId("answered", id);
  if (to !== LEAD_NAME) {
    const text = formatProtocol(response, new Date(ctx.clock.now()));
    await deliver(ctx.ref, { from: LEAD_NAME, to, text, messageId });
  } else if (response.type === "question_response") {
    const text = `Answer to your question ${response.requestId}: ${response.answer}`;
    await deliver(ctx.ref, { from: PERSON, to, text, messageId });
  }
}

function responseTo(request: RequestRecord, answer: ApprovalAnswer): Parameters<typeof formatProtocol>[0] {
  const { id } = request;
  const note = answer.note === undefined || answer.note === "" ? undefined : answer.note;
  switch (request.kind) {
    case "plan":
      return {
        type: "plan_approval_response",
        requestId: id,
        approved: answer.approve,
        ...(note === undefined ? {} : { feedback: note }),
        ...(answer.mode === undefined ? {} : { permissionMode: answer.mode }),
      };
    case "permission":
      return permissionResponse(request, note, answer);
    case "question":
      requireChoice(request, answer.approve, note);
      return { type: "question_response", requestId: id, answer: note ?? (answer.approve ? "yes" : "no") };
    case "crash":
      throw new TeamError("INVALID_INPUT", `${id} is a crash; it is restarted with r in its pane.`);
  }
}

/** Yes is no answer to "which one". */
function requireChoice(request: RequestRecord, approve: boolean, note: string | undefined): void {
  const choices = choicesOf(request);
  if (!approve || note !== undefined || choices.length === 0) return;
  throw new TeamError(
    "INVALID_INPUT",
    `${request.from} asks which one: ${choices.join(" | ")}. Nothing was sent.`,
    {
      hint: `Say it as the note: teams approve ${operand(request.id)} --note ${operand(choices[0] ?? "")}`,
    },
  );
}

function permissionResponse(
  { id, payload: { access, input } }: RequestRecord,
  note: string | undefined,
  { approve, always }: ApprovalAnswer,
): Parameters<typeof formatProtocol>[0] {
  const updates = always === undefined ? [] : [addRules(always.rules, always.destination)];
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
