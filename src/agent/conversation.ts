import type {
  AssistantMessage,
  ConversationMessage,
  TextBlock,
  ToolResultBlock,
  ToolUseBlock,
  UserMessage,
} from "./model/model.ts";

/** What a call's result says when its process died before it had one. */
const LOST = "The agent was restarted before this call had a result; whether it took effect is not known.";

export function toolUsesOf(message: AssistantMessage): ToolUseBlock[] {
  return message.content.filter((block) => block.type === "tool_use");
}

export function toolResultsOf(message: UserMessage): ToolResultBlock[] {
  return message.content.filter((block) => block.type === "tool_result");
}

/** The text of a message, its text blocks joined by a line's end. */
export function textOf(message: ConversationMessage): string {
  const texts: TextBlock[] = [];
  for (const block of message.content) if (block.type === "text") texts.push(block);
  return texts.map((block) => block.text).join("\n");
}

export function errorResult(toolUseId: string, content: string): ToolResultBlock {
  return { type: "tool_result", toolUseId, content, isError: true };
}

/** Every tool call has a result right behind it: those that are missing are said to be lost. */
export function closeDangling(messages: readonly ConversationMessage[]): ConversationMessage[] {
  const closed: ConversationMessage[] = [];
  for (const [i, message] of messages.entries()) {
    closed.push(message);
    if (message.role !== "assistant") continue;
    const next = messages[i + 1];
    const answered = new Set(next?.role === "user" ? toolResultsOf(next).map((r) => r.toolUseId) : []);
    const lost = toolUsesOf(message).filter((use) => !answered.has(use.id));
    if (lost.length > 0) closed.push({ role: "user", content: lost.map((use) => errorResult(use.id, LOST)) });
  }
  return closed;
}
