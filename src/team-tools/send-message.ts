import * as z from "zod/mini";
import type { ToolResult } from "../agent/tool.ts";
import { TeamError } from "../errors.ts";
import { answerApproval } from "../operations/approvals/approvals.ts";
import { openForeignRequests } from "../operations/approvals/foreign-requests.ts";
import { type OperationContext, requireLead } from "../operations/context.ts";
import { requestShutdown } from "../operations/ending/shutdown.ts";
import { formatProtocol, plainText } from "../protocol/messages.ts";
import { agentInRequestId } from "../protocol/request-ids.ts";
import { LEAD_NAME, sameName } from "../schema/names.ts";
import { readTeam } from "../team/config/config.ts";
import { broadcast, sendMessage } from "../team/mailbox/send.ts";
import { findMember, findRecipient } from "../team/members/members.ts";
import { shortened } from "../text/characters/cut-text.ts";
import type { Worker } from "../worker/worker.ts";
import { jsonResult, type MemberTool, type MemberToolContext, TEAM_ACCESS, withRefusals } from "./context.ts";

/** Maximum characters of a message (protocol.md section 8). */
const MAX_MESSAGE = 100_000;

const input = z.object({
  type: z
    ._default(
      z.enum(["message", "broadcast", "shutdown_request", "shutdown_response", "plan_approval_response"]),
      "message",
    )
    .check(z.describe("Default: message")),
  recipient: z.optional(z.string()).check(z.describe("The member's name")),
  content: z
    .optional(z.string().check(z.maxLength(MAX_MESSAGE)))
    .check(z.describe("The message, the reason for a refusal, or feedback on a plan")),
  summary: z.optional(z.string()).check(z.describe("Five to ten words, shown to people")),
  request_id: z.optional(z.string()).check(z.describe("Id of the request that this answers")),
  approve: z.optional(z.boolean()).check(z.describe("Your answer to the request")),
  to: z.optional(z.string()).check(z.describe("The same as recipient")),
  message: z
    .optional(z.union([z.string().check(z.maxLength(MAX_MESSAGE)), z.record(z.string(), z.unknown())]))
    .check(z.describe("The same as content")),
  feedback: z
    .optional(z.string().check(z.maxLength(MAX_MESSAGE)))
    .check(z.describe("The same as content, for a plan")),
  reason: z
    .optional(z.string().check(z.maxLength(MAX_MESSAGE)))
    .check(z.describe("The same as content, for a shutdown")),
});
type Call = z.infer<typeof input>;

const FORMS = `Sends a message to a member, or to all. Text outside this tool is not sent to members.
- {type: "message", recipient, content, summary}: to one member.
- {type: "broadcast", content, summary}: to all members; only if all must know it.`;

/** The message types that only this role can send. */
const FORMS_OF: Readonly<Record<MemberToolContext["role"], string>> = {
  lead: `- {type: "shutdown_request", recipient, content?}: asks a teammate to shut down; content is the reason.
- {type: "plan_approval_response", request_id, approve, content?}: answers a plan; content is your feedback.`,
  teammate:
    '- {type: "shutdown_response", request_id, approve, content?}: answers a shutdown request; to refuse, give the reason as content.',
};

export const sendMessageTool: MemberTool = (tools) => ({
  name: "SendMessage",
  description: `${FORMS}\n${FORMS_OF[tools.role]}`,
  input,
  access: () => TEAM_ACCESS,
  summary: (call: Call) => summaryOf(normalizeCall(call)),
  execute: (call: Call) => withRefusals(() => send(tools, normalizeCall(call))),
});

/** Returns the summary of a call for the pane. */
function summaryOf({ type, recipient, summary, content = "", approve, request_id = "" }: Call): string {
  switch (type) {
    case "message":
      return recipient === undefined ? (summary ?? content) : `→ ${recipient}: ${summary ?? content}`;
    case "broadcast":
      return `→ all: ${summary ?? content}`;
    case "shutdown_request":
      return `asks ${recipient ?? "?"} to shut down`;
    case "shutdown_response":
      return approve ? "agrees to shut down" : "refuses to shut down";
    case "plan_approval_response":
      return `${approve ? "approves" : "rejects"} the plan of ${recipient ?? agentInRequestId(request_id) ?? "?"}`;
  }
}

/** Converts the newer form {to, message} into the older one; an object in `message` is a protocol answer. */
function normalizeCall(call: Call): Call {
  const recipient = call.recipient ?? call.to;
  const base: Call = { ...call, recipient, content: textOf(call) };
  if (typeof call.message !== "object") return base;
  const parsed = input.safeParse(call.message);
  const asText = { ...base, content: JSON.stringify(call.message) };
  if (!parsed.success) return asText;
  const { type, request_id, approve } = parsed.data;
  if (request_id === undefined && approve === undefined && type !== "shutdown_request") return asText;
  return {
    ...parsed.data,
    recipient: parsed.data.recipient ?? recipient,
    content: textOf(call, parsed.data),
  };
}

/** Joins the texts of a call in all fields that models use for them, without repetitions. */
function textOf(...calls: readonly Call[]): string | undefined {
  const texts = calls.flatMap(({ content, message, reason, feedback }) => [
    content,
    message,
    reason,
    feedback,
  ]);
  const given = texts.filter((text) => typeof text === "string" && text !== "");
  return given.length === 0 ? calls[0]?.content : [...new Set(given)].join("\n\n");
}

function send(tools: MemberToolContext, call: Call): Promise<ToolResult> {
  switch (call.type) {
    case "message":
      return sendToOne(tools, call);
    case "broadcast":
      return sendToAll(tools, call);
    case "shutdown_request":
      return askForShutdown(tools, call);
    case "shutdown_response":
      return answerShutdown(tools, call);
    case "plan_approval_response":
      return answerPlan(tools, call);
  }
}

async function sendToOne({ ctx, worker }: MemberToolContext, call: Call): Promise<ToolResult> {
  const content = contentOf(call);
  const target = findRecipient(readTeam(ctx.ref), required(call.recipient, "recipient"));
  if (sameName(target.name, worker.name)) {
    throw new TeamError("INVALID_INPUT", `${target.name} is your own name; nothing was sent.`);
  }
  const summary = call.summary === undefined ? {} : { summary: call.summary };
  const sent = await sendMessage(ctx.ref, {
    ...sender(worker),
    to: target.name,
    text: plainText(content),
    ...summary,
  });
  if (target.name !== LEAD_NAME)
    worker.workSinceIdle.addPeerMessage(target.name, call.summary ?? shortened(content, 80));
  const later = sent.queuedForRestart
    ? ` ${target.name} is not running; it will read the message when it is restarted.`
    : "";
  const message = `Message sent to ${target.name}'s inbox${later === "" ? "" : `.${later}`}`;
  return jsonResult({
    success: true,
    message,
    routing: {
      sender: ctx.actor,
      senderColor: worker.color,
      target: `@${target.name}`,
      targetColor: target.color,
      summary: call.summary,
      content,
    },
  });
}

async function sendToAll({ ctx, worker }: MemberToolContext, call: Call): Promise<ToolResult> {
  const summary = call.summary === undefined ? {} : { summary: call.summary };
  const sent = await broadcast(ctx.ref, { ...sender(worker), text: plainText(contentOf(call)), ...summary });
  const skipped = sent.skipped.length === 0 ? "" : ` Not running: ${sent.skipped.join(", ")}.`;
  const message = `Sent to ${sent.recipients.join(", ") || "no one"}.${skipped}`;
  return jsonResult({ success: true, message, ...sent });
}

async function askForShutdown({ ctx }: MemberToolContext, call: Call): Promise<ToolResult> {
  const target = required(call.recipient, "recipient");
  const ids = await requestShutdown(ctx, [target], call.content);
  const [[name, request_id] = []] = ids;
  return jsonResult({ success: true, message: `Shutdown requested of ${name}.`, request_id, target: name });
}

async function answerShutdown({ ctx, worker }: MemberToolContext, call: Call): Promise<ToolResult> {
  const requestId = required(call.request_id, "request_id");
  const approve = required(call.approve, "approve");
  if (!approve) required(call.content || undefined, "content (the reason for the refusal)");
  if (!worker.shutdownRequests.isOpen(requestId)) {
    throw new TeamError(
      "REQUEST_NOT_FOUND",
      `No shutdown request ${requestId} is waiting for your answer; nothing was sent.`,
    );
  }
  if (approve) await agreeToShutdown(ctx, worker, requestId);
  else {
    const { actor: from, clock } = ctx;
    const message = { type: "shutdown_rejected" as const, requestId, from, reason: call.content };
    const text = formatProtocol(message, new Date(clock.now()));
    await sendMessage(ctx.ref, { ...sender(worker), to: LEAD_NAME, text });
  }
  worker.shutdownRequests.close(requestId);
  return {
    ...jsonResult({
      success: true,
      message: approve ? "You are shutting down." : "Refused; you keep working.",
      request_id: requestId,
    }),
    endTurn: approve,
  };
}

/** Sends the lead an agent's agreement to its shutdown, and ends the agent after its turn. */
export async function agreeToShutdown(
  ctx: OperationContext,
  worker: Pick<Worker, "name" | "color" | "agreeToStop">,
  requestId: string,
): Promise<void> {
  const message = { type: "shutdown_approved" as const, requestId, from: ctx.actor, ...placeOf(ctx) };
  const text = formatProtocol(message, new Date(ctx.clock.now()));
  await sendMessage(ctx.ref, { ...sender(worker), to: LEAD_NAME, text });
  // Before the request is closed, so that the agent never checks for work in between.
  worker.agreeToStop();
}

/** Returns the agent's backend from the team's config and, for tmux, its pane, so that a lead can close that pane. */
function placeOf({ ref, actor, callerPane }: MemberToolContext["ctx"]): {
  readonly backendType: string;
  readonly paneId?: string;
} {
  const { backendType } = findMember(readTeam(ref), actor);
  const inPane = (backendType ?? "tmux") === "tmux" && callerPane !== undefined;
  return inPane ? { paneId: callerPane, backendType: "tmux" } : { backendType: backendType ?? "process" };
}

async function answerPlan({ ctx }: MemberToolContext, call: Call): Promise<ToolResult> {
  requireLead(ctx, "approve or reject");
  const id = required(call.request_id, "request_id");
  const approve = required(call.approve, "approve");
  const note = call.content === undefined ? {} : { note: call.content };
  await openForeignRequests(ctx.ref, ctx.env);
  const { from } = await answerApproval(ctx, id, { approve, decider: "model", ...note });
  return jsonResult({
    success: true,
    message: `${from}'s plan is ${approve ? "approved" : "rejected"}.`,
    request_id: id,
  });
}

function sender(worker: Pick<Worker, "name" | "color">): { from: string; color?: string } {
  return worker.color === undefined ? { from: worker.name } : { from: worker.name, color: worker.color };
}

function contentOf({ content }: Call): string {
  return required(content, "content");
}

function required<T>(value: T | undefined, field: string): T {
  if (value !== undefined) return value;
  throw new TeamError("INVALID_INPUT", `SendMessage of this type needs ${field}; nothing was sent.`);
}
