import type { PlanEntry, SessionUpdate, ToolCallContent } from "@agentclientprotocol/sdk";
import { LEAD_NAME } from "../../schema/names.ts";
import type { Task } from "../../schema/task.ts";
import { cutText, shortened } from "../../text/characters/cut-text.ts";
import { wellFormed } from "../../text/characters/well-formed.ts";
import { stripControls } from "../../text/terminal-text.ts";
import type { SessionFact } from "./facts.ts";
import { MAX_RESULT, MAX_TASKS, MAX_TITLE } from "./limits.ts";
import { oneLine, shownCall } from "./tool-call.ts";

/** Facts that the updates of a session depend on. */
export interface UpdateContext {
  readonly cwd: string;
  /** Whether the client shows notices. */
  readonly hasNotices: boolean;
}

/** Returns the update of a fact for a client of protocol version 1. Texts are cleaned: they come from models, tools and files. */
export function updateOf(fact: SessionFact, { cwd, hasNotices }: UpdateContext): SessionUpdate {
  switch (fact.kind) {
    case "text":
      return {
        sessionUpdate: "agent_message_chunk",
        content: { type: "text", text: clean(fact.text) },
        messageId: fact.message,
      };
    case "thought":
      return thought(fact.text);
    case "prompt":
      return { sessionUpdate: "user_message_chunk", content: { type: "text", text: clean(fact.text) } };
    case "call":
      return {
        sessionUpdate: "tool_call",
        toolCallId: fact.id,
        status: "in_progress",
        ...shownCall(fact, cwd, LEAD_NAME),
        _meta: { teams: { member: fact.member } },
      };
    case "output":
      return {
        sessionUpdate: "tool_call_update",
        toolCallId: fact.id,
        status: "in_progress",
        content: [textContent(fact.tail)],
      };
    case "result":
      return {
        sessionUpdate: "tool_call_update",
        toolCallId: fact.id,
        status: fact.isError ? "failed" : "completed",
        // For a change, the client keeps showing the diff of the call.
        ...(fact.isChange ? {} : { content: [textContent(fact.content)] }),
      };
    case "tasks":
      return { sessionUpdate: "plan", entries: planOf(fact.tasks) };
    case "mode":
      return { sessionUpdate: "current_mode_update", currentModeId: fact.mode };
    case "usage":
      return {
        sessionUpdate: "usage_update",
        used: fact.used,
        size: fact.size,
        cost: { amount: fact.costUsd, currency: "USD" },
      };
    case "title":
      return { sessionUpdate: "session_info_update", title: shortened(oneLine(fact.title), MAX_TITLE) };
    case "notice":
      if (hasNotices)
        return { sessionUpdate: "notice", severity: fact.severity, title: oneLine(fact.text) || "teams" };
      // A client without notices shows important ones as messages of the lead.
      return fact.severity === "info"
        ? thought(`${fact.text}\n`)
        : {
            sessionUpdate: "agent_message_chunk",
            content: { type: "text", text: `\n[teams] ${clean(fact.text)}\n` },
          };
  }
}

/** Returns the task list as a plan; if there are too many tasks, only open ones. */
function planOf(tasks: readonly Task[]): PlanEntry[] {
  const open = tasks.filter(({ status }) => status !== "completed");
  const shown = tasks.length <= MAX_TASKS ? tasks : open.slice(0, MAX_TASKS);
  return shown.map(({ id, subject, owner, status }) => ({
    content: shortened(oneLine(`#${id} ${subject}${owner === undefined ? "" : ` (${owner})`}`), MAX_TITLE),
    priority: "medium",
    status,
  }));
}

function thought(text: string): SessionUpdate {
  return { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: clean(text) } };
}

function textContent(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text: cutText(clean(text), MAX_RESULT) } };
}

function clean(text: string): string {
  return wellFormed(stripControls(text));
}
