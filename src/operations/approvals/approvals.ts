import { TeamError } from "../../errors.ts";
import { authenticProtocol } from "../../protocol/authenticate.ts";
import type { RuleDestination } from "../../protocol/permission-messages.ts";
import { isCrashId } from "../../protocol/request-ids.ts";
import { defined } from "../../schema/defined.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import { readTeam } from "../../team/config/config.ts";
import { peekInbox } from "../../team/inbox/inbox-file.ts";
import type { TeamRef } from "../../team/ref.ts";
import { choicesOf, resendAnswer, resolveChoice, sendAnswer } from "../../team/requests/answers.ts";
import { changePreview } from "../../team/requests/change-preview.ts";
import {
  answerRequest,
  listRequests,
  type RequestRecord,
  readRequest,
  requestNotFound,
  withdrawAnswer,
} from "../../team/requests/requests.ts";
import { operand } from "../../text/shell-quote.ts";
import { type OperationContext, requireLead } from "../context.ts";
import { exceeds, leadsMode } from "../permission-mode.ts";
import { presentInstances } from "../processes/present-instances.ts";
import { type Crash, crashesAmong, type MemberRecords, memberRecords } from "./crashes.ts";

/** One thing that waits for somebody: a row of `approvals --json` (product.md). */
export interface Approval {
  readonly id: string;
  readonly kind: "plan" | "permission" | "question" | "crash";
  readonly from: string;
  readonly summary: string;
  readonly at: number;
  /** Answers that a question offers. */
  readonly choices?: readonly string[];
  /** Why a permission is asked for. */
  readonly reason?: string;
  /** The first lines of what the call would do that its summary leaves out; all of them where one alone is looked at. */
  readonly change?: readonly string[];
}

/** One thing that waits, whole. */
export interface WholeApproval extends Approval {
  /** What the tool would be called with. */
  readonly input?: unknown;
  readonly question?: string;
  readonly planFilePath?: string;
  readonly planContent?: string;
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

/**
 * What waits, oldest first.
 * @param members what is known of them, for who has read it already
 */
export function listApprovals(ref: TeamRef, members = memberRecords(ref)): readonly Approval[] {
  const asked = listRequests(ref).map((request) => approvalOf(request));
  return [...asked, ...crashesAmong(members)].sort((a, b) => a.at - b.at);
}

function crashBy(members: readonly MemberRecords[], id: string): Crash | undefined {
  return crashesAmong(members).find((crash) => crash.id === id);
}

/** @throws TeamError REQUEST_NOT_FOUND */
export function wholeApproval(ref: TeamRef, id: string): WholeApproval {
  const crash = isCrashId(id) ? crashBy(memberRecords(ref), id) : undefined;
  if (crash !== undefined) return crash;
  const request = readRequest(ref, id);
  const { payload } = request;
  const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
  return defined({
    ...approvalOf(request, Number.POSITIVE_INFINITY),
    input: payload.input,
    question: text(payload.question),
    planFilePath: text(payload.planFilePath),
    planContent: text(payload.planContent),
  });
}

/** Lines of a change that a list shows; the pane of whoever asks shows more, and `teams approvals <id>` all. */
const LISTED_LINES = 8;

function approvalOf(request: RequestRecord, most = LISTED_LINES): Approval {
  const { id, kind, from, summary, at, payload } = request;
  const choices = choicesOf(request);
  const change = kind === "permission" ? changePreview(String(payload.tool), payload.input) : [];
  const more = change.length - most;
  // A line that says “1 more line” would take the place of that line.
  const lines = more > 1 ? [...change.slice(0, most), `… ${more} more lines`] : change;
  return {
    ...{ id, kind, from, summary, at },
    ...(choices.length === 0 ? {} : { choices }),
    ...(kind === "permission" && typeof payload.reason === "string" ? { reason: payload.reason } : {}),
    ...(lines.length === 0 ? {} : { change: lines }),
  };
}

/**
 * Answers a request and sends the one response; of several answers the first counts. A crash is answered by what becomes of
 * whoever crashed: it is started again, or leaves the team.
 * @throws TeamError NOT_LEAD, REQUEST_NOT_FOUND, ALREADY_ANSWERED, INVALID_INPUT where a choice is asked for and none is given,
 * PERMISSION_DENIED for a model that would decide more than a plan
 */
export async function answerApproval(
  ctx: OperationContext,
  id: string,
  answer: ApprovalAnswer,
): Promise<Approval> {
  requireLead(ctx, "approve or reject");
  if (isCrashId(id)) return answerCrashOf(ctx, id, answer);
  const request = readRequest(ctx.ref, id);
  const { decider = "person", always, ...given } = answer;
  const note = given.note && resolveChoice(choicesOf(request), given.note);
  const decision = defined({ ...given, note: note || undefined });
  if (decider === "model" && request.kind !== "plan") throw onlyAPerson(id);
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
  if (request.kind === "question") requireChoice(request, answer.approve, note || undefined);
  const record = defined({ ...decision, always: always?.rules.slice(), by: ctx.actor, at: ctx.clock.now() });
  if ((await answerRequest(ctx.ref, id, record)) === "already") {
    // Whoever gave it may have ended before it was sent.
    await resendAnswer(ctx.ref, id, ctx.clock.now());
    throw new TeamError("ALREADY_ANSWERED", `${id} was answered before; that answer stands.`, {
      hint: "See what still waits: teams approvals",
    });
  }
  const told = defined({ ...record, destination: always?.destination });
  try {
    await sendAnswer(ctx.ref, request, told, ctx.clock.now());
  } catch (error) {
    // Nobody has been told: it waits as before.
    withdrawAnswer(ctx.ref, id);
    throw error;
  }
  return approvalOf(request);
}

/** What starts and ends programs is loaded for the few that crash. */
async function answerCrashOf(
  ctx: OperationContext,
  id: string,
  { approve, decider }: ApprovalAnswer,
): Promise<Approval> {
  const members = memberRecords(ctx.ref);
  const places = members.flatMap(({ place }) => place ?? []);
  const present = await presentInstances(ctx, places);
  const crash = crashBy(
    members.map((known) => ({ ...known, presentInstances: present })),
    id,
  );
  if (crash === undefined) throw requestNotFound(ctx.ref, id);
  if (decider === "model") throw onlyAPerson(id);
  const { answerCrash } = await import("./answer-crash.ts");
  await answerCrash(ctx, crash.from, approve);
  return crash;
}

function onlyAPerson(id: string): TeamError {
  return new TeamError(
    "PERMISSION_DENIED",
    `${id} is not a plan; only a person answers it. Nothing was sent.`,
    {
      hint: "A person answers in the agent's pane, in the sidebar or by teams approve.",
    },
  );
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

/** The plans that wait although the lead has read of them: where it has nothing left to do, only a person answers them. */
export function unansweredPlans(ref: TeamRef): readonly RequestRecord[] {
  const plans = listRequests(ref).filter(({ kind }) => kind === "plan");
  if (plans.length === 0) return [];
  const read = peekInbox(ref, LEAD_NAME).flatMap((message) => {
    const protocol = message.read ? authenticProtocol(message, LEAD_NAME) : undefined;
    return protocol?.type === "plan_approval_request" ? [protocol.requestId] : [];
  });
  return plans.filter(({ id }) => read.includes(id));
}
