import type {
  AgentContext,
  CreateElicitationRequest,
  RequestPermissionRequest,
} from "@agentclientprotocol/sdk";
import { fieldsOf } from "../../adapter/reported-values.ts";
import type { ApprovalAnswer, ApprovalDetails } from "../../operations/approvals/approvals.ts";
import { defaultLine, hiddenInput } from "../../operations/approvals/request-texts.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { TeamRef } from "../../team/ref.ts";
import { readRequest } from "../../team/requests/requests.ts";
import { cutText } from "../../text/characters/cut-text.ts";
import { revealHidden } from "../../text/terminal-text.ts";
import { MAX_REQUEST } from "./limits.ts";
import { cutOptions, optionsOf, type RequestOption } from "./request-options.ts";
import { oneLine, shownCall } from "./tool-call.ts";

interface OfferContext {
  readonly client: AgentContext;
  readonly sessionId: string;
  readonly ref: TeamRef;
  readonly cwd: string;
  /** Whether the client shows forms. */
  readonly hasForms: boolean;
}

/**
 * Offers a request to a client of protocol version 1.
 * @returns undefined if the client's user gave no answer @throws if the client refuses the request
 */
export async function offerRequest(
  context: OfferContext,
  request: ApprovalDetails,
  signal: AbortSignal,
): Promise<ApprovalAnswer | undefined> {
  const isFree = request.kind === "question" && (request.choices ?? []).length === 0;
  if (isFree && context.hasForms) return askInForm(context, request, signal);
  const text = textOf(request);
  // A user who cannot see the whole request must not allow it here.
  const isWhole = text.length <= MAX_REQUEST && request.isCut !== true;
  const options = optionsOf(request).filter(({ answer }) => isWhole || !answer.approve);
  const more = isWhole ? "" : `\n\n${partNote(request.id)}`;
  const params = permissionParams(context, request, `${cutText(text, MAX_REQUEST)}${more}`, options);
  const answer = await context.client.request("session/request_permission", params, cancelledBy(signal));
  return chosenAnswer(answer, options);
}

function partNote(id: string): string {
  return `Only part of this request is shown, so it cannot be allowed here. To see all of it: teams approvals ${id}`;
}

/** Tells the client that the request is over, without waiting for its answer. */
function cancelledBy(cancellationSignal: AbortSignal) {
  return { cancellationSignal, stopWaitingOnCancel: true };
}

function permissionParams(
  { sessionId, ref, cwd }: OfferContext,
  request: ApprovalDetails,
  text: string,
  options: readonly RequestOption[],
): RequestPermissionRequest {
  const { id, kind, from, input } = request;
  const before = kind === "question" ? `${from} ` : `${from}: `;
  const title = `${from === LEAD_NAME ? "" : before}${TITLES[kind]}${request.summary}`;
  const { tool, toolUseId } = kind === "permission" ? fieldsOf(readRequest(ref, id).payload) : {};
  const name = typeof tool === "string" ? tool : undefined;
  const call =
    name === undefined
      ? { kind: kind === "plan" ? ("switch_mode" as const) : ("other" as const) }
      : shownCall({ id, member: from, tool: name, summary: request.summary, input }, cwd, LEAD_NAME);
  const shown = "content" in call ? call.content : [];
  return {
    sessionId,
    toolCall: {
      ...call,
      toolCallId: typeof toolUseId === "string" ? `${from}/${toolUseId}` : id,
      status: "pending",
      title: cutText(oneLine(title), MAX_TITLE_OF_REQUEST),
      content: [...shown, { type: "content", content: { type: "text", text } }],
      _meta: { teams: { member: from, request: id, kind } },
    },
    options: options.map(({ answer: _answer, ...option }) => option),
  };
}

/** Maximum characters of a request's title. Longer than the title of a call, because the user decides by it. */
const MAX_TITLE_OF_REQUEST = 1_000;

const TITLES: Readonly<Record<ApprovalDetails["kind"], string>> = {
  permission: "",
  plan: "plan: ",
  question: "asks: ",
  crash: "",
};

/** Returns the full text of a request, with hidden characters made visible: the user decides by this text. */
function textOf(request: ApprovalDetails): string {
  const { kind, summary, reason, change = [], question, planContent } = request;
  const parts: Readonly<Record<ApprovalDetails["kind"], readonly string[]>> = {
    permission: [summary, reason ?? "", change.join("\n"), hiddenInput(request) ?? ""],
    plan: [planContent ?? summary],
    question: [question ?? summary],
    crash: [summary],
  };
  return [...parts[kind], cutOptions(request).join("\n")]
    .filter((part) => part !== "")
    .map(revealHidden)
    .join("\n\n");
}

function chosenAnswer(result: unknown, options: readonly RequestOption[]): ApprovalAnswer | undefined {
  const { outcome, optionId } = fieldsOf(fieldsOf(result).outcome);
  if (outcome === "cancelled") return undefined;
  const chosen = options.find((option) => outcome === "selected" && option.optionId === optionId);
  if (chosen === undefined) throw new Error("the client chose an option that it was not offered");
  return chosen.answer;
}

/** The only field of the form for a question. */
const FIELD = "answer";

async function askInForm(
  { client, sessionId }: OfferContext,
  request: ApprovalDetails,
  signal: AbortSignal,
): Promise<ApprovalAnswer | undefined> {
  const { from, question, summary, default: byDefault, deadline } = request;
  const asked = `${from === LEAD_NAME ? "" : `${from}: `}${revealHidden(question ?? summary)}`;
  const message = [asked, ...(deadline === undefined ? [] : defaultLine(request))].join("\n\n");
  const params: CreateElicitationRequest = {
    mode: "form",
    sessionId,
    message: cutText(message, MAX_REQUEST),
    requestedSchema: {
      type: "object",
      properties: {
        [FIELD]: {
          type: "string",
          title: "Answer",
          ...(byDefault === undefined ? {} : { default: byDefault }),
        },
      },
      required: [FIELD],
    },
  };
  const answer = await client.request("elicitation/create", params, cancelledBy(signal));
  const { action, content } = fieldsOf(answer);
  if (action === "decline") return { approve: false };
  if (action !== "accept") return undefined;
  const text = fieldsOf(content)[FIELD];
  if (typeof text !== "string" || text.trim() === "") throw new Error("the client's form has no answer");
  return { approve: true, note: cutText(text, MAX_REQUEST) };
}
