import type {
  AssistantMessage,
  ConversationMessage,
  TextBlock,
  ToolResultBlock,
  ToolUseBlock,
  UserMessage,
} from "./model.ts";

/** The result of a call whose process died before the call returned. */
const LOST = "The agent was restarted before this call returned; the call may have taken effect.";

export function toolUsesOf(message: AssistantMessage): ToolUseBlock[] {
  return message.content.filter((block) => block.type === "tool_use");
}

export function toolResultsOf(message: UserMessage): ToolResultBlock[] {
  return message.content.filter((block) => block.type === "tool_result");
}

/** Returns the text blocks of a message, joined by line feeds. */
export function messageText(message: ConversationMessage): string {
  const texts: TextBlock[] = [];
  for (const block of message.content) if (block.type === "text") texts.push(block);
  return texts.map((block) => block.text).join("\n");
}

export function errorResult(toolUseId: string, content: string): ToolResultBlock {
  return { type: "tool_result", toolUseId, content, isError: true };
}

/** Marks where a turn was interrupted. */
export const INTERRUPTED = "[The turn was interrupted here.]";

/** The newest turn of a conversation. */
interface NewestTurn {
  /** The last text of the model in this turn. */
  readonly text: string;
  readonly toolCalls: number;
  /** How it ended; undefined if the turn is unfinished. */
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
 * Returns the conversation in a form that a server accepts. A refused turn is left out, since the model would also refuse
 * everything after it. Every tool call gets a result, and the first message is the user's.
 */
export function sendable(messages: readonly ConversationMessage[]): ConversationMessage[] {
  const sent: ConversationMessage[] = [];
  for (const message of closeDangling(messages)) {
    if (message.role === "assistant" && message.refused) {
      const opening = sent.findLastIndex((prior) => prior.role === "user" && prior.origin !== undefined);
      sent.splice(Math.max(0, opening));
      sent.push({ role: "user", content: [{ type: "text", text: REFUSED_TURN }] });
    } else sent.push(message);
  }
  if (sent[0]?.role === "assistant")
    sent.unshift({ role: "user", content: [{ type: "text", text: LOST_START }] });
  return sent;
}

const REFUSED_TURN = "[A turn that you refused to continue was left out here.]";
const LOST_START = "[The start of the conversation can no longer be read.]";

/**
 * Adds an error result after each tool call without a result, and leaves out each result that does not follow its call: a damaged
 * line of the file may have contained the call or the result. Calls of a refused message never ran and are skipped.
 */
export function closeDangling(messages: readonly ConversationMessage[]): ConversationMessage[] {
  const closed: ConversationMessage[] = [];
  for (const [i, message] of messages.entries()) {
    if (message.role === "user") {
      closed.push(...withoutOrphans(message, messages[i - 1]));
      continue;
    }
    closed.push(message);
    if (message.refused) continue;
    const next = messages[i + 1];
    const answered = new Set(next?.role === "user" ? toolResultsOf(next).map((r) => r.toolUseId) : []);
    const lost = toolUsesOf(message).filter((use) => !answered.has(use.id));
    if (lost.length > 0) closed.push({ role: "user", content: lost.map((use) => errorResult(use.id, LOST)) });
  }
  return closed;
}

/** @returns the message without results of calls that are not in the message before it; an empty list if nothing is left */
function withoutOrphans(message: UserMessage, before: ConversationMessage | undefined): UserMessage[] {
  const called = new Set(before?.role === "assistant" ? toolUsesOf(before).map(({ id }) => id) : []);
  const content = message.content.filter(
    (block) => block.type !== "tool_result" || called.has(block.toolUseId),
  );
  if (content.length === message.content.length) return [message];
  return content.length === 0 ? [] : [{ ...message, content }];
}
