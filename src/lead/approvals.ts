import { TeamError } from "../errors.ts";
import { operand } from "../os/shell-words.ts";
import type { RuleDestination } from "../protocol/permission-updates.ts";
import { defined } from "../schema/defined.ts";
import type { PermissionMode } from "../schema/permission-modes.ts";
import { sendAnswer, sendGivenAnswer } from "../team/answers.ts";
import { readTeam } from "../team/config.ts";
import type { TeamRef } from "../team/ref.ts";
import {
  answerRequest,
  listRequests,
  type RequestRecord,
  readRequest,
  withdrawAnswer,
} from "../team/requests.ts";
import { type LeadContext, requireLead } from "./context.ts";
import { exceeds, leadsMode } from "./modes.ts";

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
  if (request.kind === "question") requireChoice(request, answer.approve, answer.note || undefined);
  if (request.kind === "crash")
    throw new TeamError("INVALID_INPUT", `${id} is a crash; it is restarted with r in its pane.`);
  const record = defined({ ...decision, always: always?.rules.slice(), by: ctx.actor, at: ctx.clock.now() });
  if ((await answerRequest(ctx.ref, id, record)) === "already") {
    // Whoever gave it may have ended before it was sent.
    await sendGivenAnswer(ctx.ref, id, ctx.clock.now());
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
