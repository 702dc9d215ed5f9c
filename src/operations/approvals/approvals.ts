import { TeamError } from "../../errors.ts";
import { authenticProtocol } from "../../protocol/authenticate.ts";
import type { RuleDestination } from "../../protocol/permission-messages.ts";
import { isCrashId } from "../../protocol/request-ids.ts";
import { defined } from "../../schema/defined.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import { readTeam } from "../../team/config/config.ts";
import { peekInbox } from "../../team/inbox/inbox-file.ts";
import { type MemberRecords, memberRecords } from "../../team/members/member-records.ts";
import type { TeamRef } from "../../team/ref.ts";
import { alreadyAnswered, notOpenError, rememberAnswered } from "../../team/requests/answered-ids.ts";
import {
  choicesOf,
  defaultOf,
  resendAnswer,
  resolveChoice,
  sendAnswer,
} from "../../team/requests/answers.ts";
import {
  answerRequest,
  listRequests,
  type RequestRecord,
  readAnswer,
  readRequest,
  suggestedRules,
  withdrawAnswer,
} from "../../team/requests/requests.ts";
import { needsChange, savedChange } from "../../team/requests/saved-change.ts";
import { isShortened, moreLines } from "../../text/diff/left-out.ts";
import { operand } from "../../text/shell-quote.ts";
import { type OperationContext, requireLead } from "../context.ts";
import { exceedsMode, inheritedMode } from "../permission-mode.ts";
import { withPresence } from "../processes/present-instances.ts";
import { type Crash, listCrashes } from "./crashes.ts";

/** An open request: a row of `approvals --json` (product.md). */
export interface Approval {
  readonly id: string;
  readonly kind: "plan" | "permission" | "question" | "crash";
  readonly from: string;
  readonly summary: string;
  readonly at: number;
  /** The choices that a question offers. */
  readonly choices?: readonly string[];
  /** The answer to a question if the person approves it without another answer. */
  readonly default?: string;
  /** When the default becomes the answer, in milliseconds since the epoch. */
  readonly deadline?: number;
  /** Why the permission is requested. */
  readonly reason?: string;
  /** The change that the call would make, beyond its summary: the first lines in a list, all lines in the details. */
  readonly change?: readonly string[];
  /** The rules that an “always” would add; absent if no rule can allow the call. */
  readonly always?: readonly string[];
  /** This row shows only a part of the request; the details show all of it. */
  readonly partial?: true;
}

/** An open request with all its details. */
export interface ApprovalDetails extends Approval {
  /** The tool that the agent wants to call. */
  readonly tool?: string;
  /** The input of the tool call. */
  readonly input?: unknown;
  /** The summary is cut: only the input shows the whole call. */
  readonly isCut?: boolean;
  readonly question?: string;
  readonly planFilePath?: string;
  readonly planContent?: string;
  /** The first answer, until the asker has taken it. */
  readonly answer?: { readonly approve: boolean; readonly by: string; readonly note?: string };
}

export interface ApprovalAnswer {
  readonly approve: boolean;
  /** Feedback on a plan, the reason for a rejection, or the answer to a question. */
  readonly note?: string;
  /** The mode in which the agent carries out an approved plan. */
  readonly mode?: PermissionMode;
  /** Rules that an allowed call also adds, and where they are saved. Without it, no rule is added. */
  readonly always?: { readonly rules: readonly string[]; readonly destination: RuleDestination };
  /** Who decides; a person by default. A model may answer only plans (protocol.md section 4). */
  readonly decider?: "person" | "model";
}

/**
 * Lists the open requests, oldest first.
 * @param members the members' records, if the caller has already read them
 */
export function listApprovals(ref: TeamRef, members = memberRecords(ref)): readonly Approval[] {
  const asked = listRequests(ref).map((request) => approvalOf(request));
  return [...asked, ...listCrashes(ref, members)].sort((a, b) => a.at - b.at);
}

function findCrash(ref: TeamRef, members: readonly MemberRecords[], id: string): Crash | undefined {
  return listCrashes(ref, members).find((crash) => crash.id === id);
}

/** @throws TeamError REQUEST_NOT_FOUND; ALREADY_ANSWERED if its asker already has the answer */
export async function approvalDetails(ref: TeamRef, id: string): Promise<ApprovalDetails> {
  const crash = isCrashId(id) ? findCrash(ref, memberRecords(ref), id) : undefined;
  if (crash !== undefined) return crash;
  const request = readRequest(ref, id);
  const { payload } = request;
  const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
  return defined({
    ...approvalOf(request),
    partial: undefined,
    change: request.kind === "permission" ? await wholeChange(request) : undefined,
    tool: text(payload.tool),
    input: payload.input,
    isCut: payload.isCut === true || undefined,
    question: text(payload.question),
    planFilePath: text(payload.planFilePath),
    planContent: text(payload.planContent),
    answer: answerOf(ref, id),
  });
}

function answerOf(ref: TeamRef, id: string): ApprovalDetails["answer"] {
  const answer = readAnswer(ref, id);
  return answer && defined({ approve: answer.approve, by: answer.by, note: answer.note });
}

/** How many lines of a change a list shows. The requesting agent's pane shows more, `teams approvals <id>` all. */
const MAX_LISTED_LINES = 8;

function approvalOf(request: RequestRecord): Approval {
  const { id, kind, from, summary, at, payload } = request;
  const choices = choicesOf(request);
  const byDefault = defaultOf(request);
  const change = (kind === "permission" ? savedChange(payload.change, false) : undefined) ?? [];
  const more = change.length - MAX_LISTED_LINES;
  // Instead of “1 more line”, show that line.
  const lines = more > 1 ? [...change.slice(0, MAX_LISTED_LINES), moreLines(more)] : change;
  const always = kind === "permission" ? suggestedRules(request) : [];
  const isPartial = more > 1 || isShortened(change) || saysLess(request);
  return {
    ...{ id, kind, from, summary, at },
    ...(choices.length === 0 ? {} : { choices }),
    ...(byDefault === undefined ? {} : defined({ default: byDefault.answer, deadline: byDefault.deadline })),
    ...(kind === "permission" && typeof payload.reason === "string" ? { reason: payload.reason } : {}),
    ...(lines.length === 0 ? {} : { change: lines }),
    ...(always.length === 0 ? {} : { always }),
    ...(isPartial ? { partial: true } : {}),
  };
}

/** Returns all lines of a change; undefined if the summary is complete. Computes only a shortened change again, from the input. */
async function wholeChange({ summary, payload }: RequestRecord): Promise<ApprovalDetails["change"]> {
  const { tool, input, isCut } = payload;
  const saved = savedChange(payload.change, true);
  if (saved !== undefined) return saved;
  const { changePreview } = await import("../../team/requests/change-preview.ts");
  const lines = changePreview(String(tool), input, {
    whole: true,
    // The details show the input of a cut call anyway.
    ...(isCut === true ? {} : { summary }),
  });
  return lines.length === 0 ? undefined : lines;
}

/** Whether a request's summary and change say less than its details: a plan's title, a cut call, a call outside the sandbox. */
function saysLess(request: RequestRecord): boolean {
  const { kind, payload } = request;
  if (kind !== "permission") return kind === "plan";
  const { access, isCut, change } = payload;
  if (savedChange(change, false) === undefined && needsChange(payload, request.summary)) return true;
  const isOutside = typeof access === "object" && access !== null && "outside" in access;
  return isOutside || isCut === true;
}

/**
 * Answers a request and sends the response. The first answer counts. For a crash, approval restarts the teammate and rejection
 * removes it.
 * @param signal aborts the restart of a crashed teammate
 * @throws TeamError NOT_LEAD, REQUEST_NOT_FOUND, ALREADY_ANSWERED, INVALID_INPUT if a question needs a choice and none is given,
 * PERMISSION_DENIED if a model answers more than a plan
 */
export async function answerApproval(
  ctx: OperationContext,
  id: string,
  answer: ApprovalAnswer,
  signal?: AbortSignal,
): Promise<Approval> {
  requireLead(ctx, "approve or reject");
  return isCrashId(id) ? answerCrashRequest(ctx, id, answer, signal) : answerAgentRequest(ctx, id, answer);
}

/**
 * Answers the request of an agent, as {@link answerApproval} does.
 * @throws TeamError NOT_LEAD, REQUEST_NOT_FOUND, ALREADY_ANSWERED, INVALID_INPUT, PERMISSION_DENIED
 */
export async function answerAgentRequest(
  ctx: Pick<OperationContext, "actor" | "clock" | "ref">,
  id: string,
  answer: ApprovalAnswer,
): Promise<Approval> {
  requireLead(ctx, "approve or reject");
  const request = readRequest(ctx.ref, id);
  const { decider = "person", always, ...given } = answer;
  const note = given.note && resolveChoice(choicesOf(request), given.note);
  const byDefault = given.approve ? defaultOf(request)?.answer : undefined;
  const decision = defined({ ...given, note: note || byDefault });
  if (decider === "model" && request.kind !== "plan") throw personOnly(id);
  if (
    decider === "model" &&
    answer.mode !== undefined &&
    exceedsMode(answer.mode, inheritedMode(readTeam(ctx.ref)))
  ) {
    throw new TeamError(
      "PERMISSION_DENIED",
      `A lead's model cannot set mode ${answer.mode}, which allows more than the lead's own. Nothing was sent.`,
      { hint: "Leave out the mode, or ask the user." },
    );
  }
  if (request.kind === "question") requireChoice(request, answer.approve, decision.note);
  const record = defined({ ...decision, always: always?.rules.slice(), by: ctx.actor, at: ctx.clock.now() });
  if ((await answerRequest(ctx.ref, id, record)) === "already") {
    // The process that recorded the answer may have died before it sent the response.
    await resendAnswer(ctx.ref, id, ctx.clock.now());
    throw alreadyAnswered(id);
  }
  const response = defined({ ...record, destination: always?.destination });
  try {
    await sendAnswer(ctx.ref, request, response, ctx.clock.now());
  } catch (error) {
    // No response was sent, so the request stays open.
    withdrawAnswer(ctx.ref, id);
    throw error;
  }
  return approvalOf(request);
}

/** Answers a crash. The code that restarts and ends processes is loaded only here, since crashes are rare. */
async function answerCrashRequest(
  ctx: OperationContext,
  id: string,
  { approve, decider }: ApprovalAnswer,
  signal: AbortSignal | undefined,
): Promise<Approval> {
  const crash = findCrash(ctx.ref, await withPresence(ctx, memberRecords(ctx.ref)), id);
  if (crash === undefined) throw notOpenError(ctx.ref, id);
  if (decider === "model") throw personOnly(id);
  const { answerCrash } = await import("./answer-crash.ts");
  await answerCrash(ctx, crash.from, { approve, signal });
  rememberAnswered(ctx.ref, id);
  return crash;
}

function personOnly(id: string): TeamError {
  return new TeamError(
    "PERMISSION_DENIED",
    `${id} is not a plan; only a person can answer it. Nothing was sent.`,
    {
      // A hint with a shell command would not reach the model.
      hint: "Ask the user to answer it in the agent's pane, in the sidebar, or on the command line.",
    },
  );
}

/** @throws TeamError INVALID_INPUT if a question with choices is approved without one */
function requireChoice(request: RequestRecord, approve: boolean, note: string | undefined): void {
  const choices = choicesOf(request);
  if (!approve || note !== undefined || choices.length === 0) return;
  throw new TeamError(
    "INVALID_INPUT",
    `${request.from} asks for a choice: ${choices.join(" | ")}. Nothing was sent.`,
    {
      hint: `Give the choice as the note: teams approve ${operand(request.id)} --note ${operand(choices[0] ?? "")}`,
    },
  );
}

/** Returns the open plans whose requests the lead has read. When the lead has nothing left to do, only a person can answer them. */
export function unansweredPlans(ref: TeamRef): readonly RequestRecord[] {
  const plans = listRequests(ref).filter(({ kind }) => kind === "plan");
  if (plans.length === 0) return [];
  const read = peekInbox(ref, LEAD_NAME).flatMap((message) => {
    const protocol = message.read ? authenticProtocol(message, LEAD_NAME) : undefined;
    return protocol?.type === "plan_approval_request" ? [protocol.requestId] : [];
  });
  return plans.filter(({ id }) => read.includes(id));
}
