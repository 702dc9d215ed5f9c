import * as z from "zod/mini";
import type { ToolResult } from "../agent/tool.ts";
import { TeamError } from "../errors.ts";
import { answerApproval } from "../operations/approvals/approvals.ts";
import { openForeignRequests } from "../operations/approvals/foreign-requests.ts";
import { requireLead } from "../operations/context.ts";
import { requestShutdown } from "../operations/ending/shutdown.ts";
import { formatProtocol, plainText } from "../protocol/messages.ts";
import { LEAD_NAME, sameName } from "../schema/names.ts";
import { readTeam } from "../team/config/config.ts";
import { broadcast, sendMessage } from "../team/mailbox/send.ts";
import { findMember, findRecipient } from "../team/members/members.ts";
import { answer, refusing, TEAM_ACCESS, type TeamTool, type TeamToolContext } from "./context.ts";

/** Longest message, in characters (protocol.md section 8). */
const MAX_MESSAGE = 100_000;

const input = z.object({
  type: z
    ._default(
      z.enum(["message", "broadcast", "shutdown_request", "shutdown_response", "plan_approval_response"]),
      "message",
    )
    .check(z.describe("message if not given")),
  recipient: z.optional(z.string()).check(z.describe("The member's name")),
  content: z
    .optional(z.string().check(z.maxLength(MAX_MESSAGE)))
    .check(z.describe("The message, the reason of a refusal, feedback on a plan")),
  summary: z.optional(z.string()).check(z.describe("Five to ten words, shown to people")),
  request_id: z.optional(z.string()).check(z.describe("Id of the request that this answers")),
  approve: z.optional(z.boolean()).check(z.describe("Your answer to that request")),
  to: z.optional(z.string()).check(z.describe("The same as recipient")),
  message: z
    .optional(z.union([z.string().check(z.maxLength(MAX_MESSAGE)), z.record(z.string(), z.unknown())]))
    .check(z.describe("The same as content")),
});
type Call = z.infer<typeof input>;

const FORMS = `Sends a message to a member, or to all. Text outside of this tool is not a message.
- {type: "message", recipient, content, summary}: to one member.
- {type: "broadcast", content, summary}: to everybody; only for what all must know.`;

/** What only one of the two can send. */
const FORMS_OF: Readonly<Record<TeamToolContext["role"], string>> = {
  lead: `- {type: "shutdown_request", recipient, content?}: asks a teammate to shut down; content is the reason.
- {type: "plan_approval_response", request_id, approve, content?}: answers a plan; content is your feedback.`,
  teammate:
    '- {type: "shutdown_response", request_id, approve, content?}: answers a shutdown request; a refusal needs its reason as content.',
};

export const sendMessageTool: TeamTool = (tools) => ({
  name: "SendMessage",
  description: `${FORMS}\n${FORMS_OF[tools.role]}`,
  input,
  access: () => TEAM_ACCESS,
  summary: (call: Call) => summaryOf(unfolded(call)),
  execute: (call: Call) => refusing(() => send(tools, unfolded(call))),
});

/** What a person reads of a call. */
function summaryOf({ type, recipient, summary, content = "", approve }: Call): string {
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
      return `${approve ? "approves" : "rejects"} the plan of ${recipient ?? "?"}`;
  }
}

/** The newer form {to, message} as the older one; an object in `message` is a protocol answer. */
function unfolded(call: Call): Call {
  const recipient = call.recipient ?? call.to;
  const content = call.content ?? (typeof call.message === "string" ? call.message : undefined);
  const base: Call = { ...call, recipient, content };
  if (typeof call.message !== "object") return base;
  const { message } = call;
  const parsed = input.safeParse({
    ...message,
    recipient: message.recipient ?? recipient,
    content: message.content ?? message.reason ?? message.feedback,
  });
  if (!parsed.success) {
    return { ...base, content: JSON.stringify(call.message) };
  }
  const { request_id, approve } = parsed.data;
  const answersRequest =
    request_id !== undefined || approve !== undefined || parsed.data.type === "shutdown_request";
  return answersRequest
    ? { ...parsed.data, recipient: parsed.data.recipient ?? recipient }
    : { ...base, content: JSON.stringify(call.message) };
}

function send(tools: TeamToolContext, call: Call): Promise<ToolResult> {
  switch (call.type) {
    case "message":
      return toOne(tools, call);
    case "broadcast":
      return toAll(tools, call);
    case "shutdown_request":
      return askToStop(tools, call);
    case "shutdown_response":
      return answerStop(tools, call);
    case "plan_approval_response":
      return judgePlan(tools, call);
  }
}

async function toOne({ ctx, worker }: TeamToolContext, call: Call): Promise<ToolResult> {
  const content = textOf(call);
  const target = findRecipient(readTeam(ctx.ref), need(call.recipient, "recipient"));
  if (sameName(target.name, worker.name)) {
    throw new TeamError("INVALID_INPUT", `You are ${target.name}. Nothing was sent.`);
  }
  const summary = call.summary === undefined ? {} : { summary: call.summary };
  const sent = await sendMessage(ctx.ref, {
    ...sender(worker),
    to: target.name,
    text: plainText(content),
    ...summary,
  });
  if (target.name !== LEAD_NAME) worker.work.talkedTo(target.name, call.summary ?? content.slice(0, 80));
  const later = sent.queuedForRestart
    ? ` ${target.name} is not running; it reads it when it is started again.`
    : "";
  const message = `Message sent to ${target.name}.${later}`;
  return answer({
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

async function toAll({ ctx, worker }: TeamToolContext, call: Call): Promise<ToolResult> {
  const summary = call.summary === undefined ? {} : { summary: call.summary };
  const sent = await broadcast(ctx.ref, { ...sender(worker), text: plainText(textOf(call)), ...summary });
  const skipped = sent.skipped.length === 0 ? "" : ` Not running: ${sent.skipped.join(", ")}.`;
  const message = `Sent to ${sent.recipients.join(", ") || "nobody"}.${skipped}`;
  return answer({ success: true, message, ...sent });
}

async function askToStop({ ctx }: TeamToolContext, call: Call): Promise<ToolResult> {
  const target = need(call.recipient, "recipient");
  const ids = await requestShutdown(ctx, [target], call.content);
  const [[name, request_id] = []] = ids;
  return answer({ success: true, message: `Shutdown requested of ${name}.`, request_id, target: name });
}

async function answerStop({ ctx, worker }: TeamToolContext, call: Call): Promise<ToolResult> {
  const requestId = need(call.request_id, "request_id");
  const approve = need(call.approve, "approve");
  if (!approve) need(call.content || undefined, "content (the reason of a refusal)");
  if (!worker.shutdowns.isOpen(requestId)) {
    throw new TeamError("REQUEST_NOT_FOUND", `No shutdown request ${requestId} waits for your answer.`);
  }
  const message = approve
    ? { type: "shutdown_approved" as const, requestId, from: ctx.actor, ...placeOf(ctx) }
    : { type: "shutdown_rejected" as const, requestId, from: ctx.actor, reason: call.content };
  const text = formatProtocol(message, new Date(ctx.clock.now()));
  await sendMessage(ctx.ref, { ...sender(worker), to: LEAD_NAME, text });
  worker.shutdowns.answered(requestId);
  if (approve) worker.agreeToStop();
  return {
    ...answer({
      success: true,
      message: approve ? "You shut down now." : "Refused; you keep working.",
      request_id: requestId,
    }),
    endTurn: approve,
  };
}

/** Where it lives, for a lead that closes its pane: the team's file says it; a lead's process is no place of its teammates. */
function placeOf({ ref, actor, callerPane }: TeamToolContext["ctx"]): {
  readonly backendType: string;
  readonly paneId?: string;
} {
  const { backendType } = findMember(readTeam(ref), actor);
  const inPane = (backendType ?? "tmux") === "tmux" && callerPane !== undefined;
  return inPane ? { paneId: callerPane, backendType: "tmux" } : { backendType: backendType ?? "process" };
}

async function judgePlan({ ctx }: TeamToolContext, call: Call): Promise<ToolResult> {
  requireLead(ctx, "approve or reject");
  const id = need(call.request_id, "request_id");
  const approve = need(call.approve, "approve");
  const note = call.content === undefined ? {} : { note: call.content };
  openForeignRequests(ctx.ref);
  const { from } = await answerApproval(ctx, id, { approve, decider: "model", ...note });
  return answer({
    success: true,
    message: `${from}'s plan is ${approve ? "approved" : "rejected"}.`,
    request_id: id,
  });
}

function sender(worker: TeamToolContext["worker"]): { from: string; color?: string } {
  return worker.color === undefined ? { from: worker.name } : { from: worker.name, color: worker.color };
}

function textOf(call: Call): string {
  const text = call.content ?? call.message;
  return need(typeof text === "string" ? text : undefined, "content");
}

function need<T>(value: T | undefined, field: string): T {
  if (value !== undefined) return value;
  throw new TeamError("INVALID_INPUT", `SendMessage needs ${field} here. Nothing was sent.`);
}
