import type { TurnInput } from "../../agent/agent.ts";
import { messageText } from "../../agent/model/messages.ts";
import type { ConversationMessage, UserMessage } from "../../agent/model/model.ts";

/** Marks an input that the CLI did not take. It is a separate block, so no message text can imitate it. */
const NOT_TAKEN = "[The turn ended before its CLI got this.]";

/** Precedes such an input in the next turn. */
const MISSED = "[Your turn with this text ended before you received the text, so it may be out of date.]";

/** Returns an input as the conversation records it. */
export function inputMessage({ text, origin }: TurnInput, isTaken: boolean): UserMessage {
  const texts = isTaken ? [text] : [text, NOT_TAKEN];
  return { role: "user", content: texts.map((one) => ({ type: "text", text: one })), origin };
}

/** Whether the CLI has taken any input of a conversation. */
export function hasTakenInput(messages: readonly ConversationMessage[]): boolean {
  return inputsOf(messages).some((input) => !isMissed(input));
}

/** Returns the inputs after the newest input that the CLI has taken, each with a marker. The next turn begins with them. */
export function missedTexts(messages: readonly ConversationMessage[]): readonly string[] {
  const inputs = inputsOf(messages);
  const newest = inputs.slice(inputs.findLastIndex((input) => !isMissed(input)) + 1);
  return newest.map((input) => {
    const text = messageText({ ...input, content: input.content.slice(0, -1) });
    return `${MISSED}\n\n${text}`;
  });
}

/** Returns the texts of the newest turn, as the CLI got them: the inputs that it had missed before, then the turn's own. */
export function newestTexts(messages: readonly ConversationMessage[]): readonly string[] {
  const at = messages.findLastIndex((message) => message.role === "user" && message.origin !== undefined);
  const input = messages[at];
  return input === undefined ? [] : [...missedTexts(messages.slice(0, at)), messageText(input)];
}

function inputsOf(messages: readonly ConversationMessage[]): readonly UserMessage[] {
  return messages.flatMap((message) =>
    message.role === "user" && message.origin !== undefined ? [message] : [],
  );
}

function isMissed({ content }: UserMessage): boolean {
  const last = content.at(-1);
  return content.length > 1 && last?.type === "text" && last.text === NOT_TAKEN;
}
