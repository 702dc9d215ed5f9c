import type {
  AssistantMessage,
  ConversationMessage,
  TextBlock,
  ToolResultBlock,
  ToolUseBlock,
  UserMessage,
} from "./model.ts";

/** What a call's result says when its process died before it had one. */
const LOST = "The agent was restarted before this call had a result; whether it took effect is not known.";

export function toolUsesOf(message: AssistantMessage): ToolUseBlock[] {
  return message.content.filter((block) => block.type === "tool_use");
}

export function toolResultsOf(message: UserMessage): ToolResultBlock[] {
  return message.content.filter((block) => block.type === "tool_result");
}

/** The text of a message, its text blocks joined by a line's end. */
export function messageText(message: ConversationMessage): string {
  const texts: TextBlock[] = [];
  for (const block of message.content) if (block.type === "text") texts.push(block);
  return texts.map((block) => block.text).join("\n");
}

export function errorResult(toolUseId: string, content: string): ToolResultBlock {
  return { type: "tool_result", toolUseId, content, isError: true };
}

/** Stands where a turn was interrupted. */
export const INTERRUPTED = "[The turn was interrupted here.]";

/** What a conversation shows of its newest turn. */
interface NewestTurn {
  /** The last text of the model in it. */
  readonly text: string;
  readonly toolCalls: number;
  /** How it ended; undefined where the model has not had its last word. */
  readonly outcome: "completed" | "interrupted" | "failed" | undefined;
}

export function newestTurn(messages: readonly ConversationMessage[]): NewestTurn {
  const begin = messages.findLastIndex((message) => message.role === "user" && message.origin !== undefined);
  const answers = messages.slice(begin + 1).filter((message) => message.role === "assistant");
  return {
    text: answers.map(messageText).findLast((text) => text !== "") ?? "",
    toolCalls: answers.flatMap(toolUsesOf).length,
    outcome: outcomeOf(messages.at(-1)),
  };
}

function outcomeOf(last: ConversationMessage | undefined): NewestTurn["outcome"] {
  if (last?.role !== "assistant") {
    return last !== undefined && messageText(last) === INTERRUPTED ? "interrupted" : undefined;
  }
  if (last.unfinished || last.refused) return "failed";
  return toolUsesOf(last).length === 0 ? "completed" : undefined;
}

/**
 * The conversation as a server takes it: a turn that the model refused is left out, since it would refuse whatever comes
 * behind it as well, and every call has its result.
 */
export function sendable(messages: readonly ConversationMessage[]): ConversationMessage[] {
  const sent: ConversationMessage[] = [];
  for (const message of closeDangling(messages)) {
    if (message.role === "assistant" && message.refused) {
      const opening = sent.findLastIndex((one) => one.role === "user" && one.origin !== undefined);
      sent.splice(Math.max(0, opening));
      sent.push({ role: "user", content: [{ type: "text", text: REFUSED_TURN }] });
    } else sent.push(message);
  }
  return sent;
}

const REFUSED_TURN = "[There was a turn here that you refused to continue; it is left out.]";

/** Every tool call has a result right behind it: those that are missing are said to be lost. What was refused was called by nobody. */
export function closeDangling(messages: readonly ConversationMessage[]): ConversationMessage[] {
  const closed: ConversationMessage[] = [];
  for (const [i, message] of messages.entries()) {
    closed.push(message);
    if (message.role !== "assistant" || message.refused) continue;
    const next = messages[i + 1];
    const answered = new Set(next?.role === "user" ? toolResultsOf(next).map((r) => r.toolUseId) : []);
    const lost = toolUsesOf(message).filter((use) => !answered.has(use.id));
    if (lost.length > 0) closed.push({ role: "user", content: lost.map((use) => errorResult(use.id, LOST)) });
  }
  return closed;
}
