import { characterCount, textEnd, textStart } from "../../text/characters/cut-text.ts";
import type { AssistantBlock, ConversationMessage, UserBlock } from "../model/model.ts";

/** Estimated bytes in a token. Rather low, because an overestimated prompt is harmless. */
const BYTES_PER_TOKEN = 3;
/** Estimated tokens around the text of a block. */
const TOKENS_PER_BLOCK = 8;

/** Estimates the tokens of a text. */
export function tokensOfText(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

export function tokensOf(messages: readonly ConversationMessage[]): number {
  return messages.reduce(
    (sum, { content }) => sum + content.reduce((all, block) => all + tokensOfBlock(block), 0),
    0,
  );
}

function tokensOfBlock(block: UserBlock | AssistantBlock): number {
  return TOKENS_PER_BLOCK + tokensOfText(textIn(block));
}

function textIn(block: UserBlock | AssistantBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "tool_result":
      return block.content;
    case "tool_use":
      return JSON.stringify(block.input ?? {});
    case "opaque":
      return JSON.stringify(block.value ?? {});
  }
}

/** Tokens at which a conversation is compacted. The rest of the window is for one more answer and the request for a summary. */
export function compactionThreshold(window: number): number {
  return Math.floor(Math.max(window * 0.5, Math.min(window * 0.85, window - 40_000)));
}

/** Tokens of the newest messages that a compaction keeps. */
export function keptTokens(window: number): number {
  return Math.floor(Math.min(window * 0.2, 30_000));
}

/**
 * Returns the index of the first message to keep: as many of the newest messages as fit into the tokens, at least the last step,
 * and never split between a call and its result. 0 if all messages fit.
 */
export function firstKeptIndex(messages: readonly ConversationMessage[], tokens: number): number {
  let from: number | undefined;
  let sum = 0;
  for (let i = messages.length - 1; i >= 0; i -= 1) {
    const message = messages[i];
    if (message === undefined) continue;
    sum += tokensOf([message]);
    if (from !== undefined && sum > tokens) return from;
    if (mayBegin(message)) from = i;
  }
  return 0;
}

function mayBegin({ content }: ConversationMessage): boolean {
  return content.every((block) => block.type !== "tool_result");
}

/** Characters of a shortened text: from the longest tool result down to the shortest text that still shows its subject. */
const MAX_TEXT = 100_000;
const MIN_TEXT = 500;

/**
 * Shortens messages to a number of tokens if possible: it truncates the longest texts in the middle, all to the same length.
 * One huge tool result alone can make this necessary.
 */
export function shortenTexts(
  messages: readonly ConversationMessage[],
  tokens: number,
): ConversationMessage[] {
  let short = [...messages];
  for (let length = MAX_TEXT; tokensOf(short) > tokens && length >= MIN_TEXT; length /= 2) {
    short = messages.map((message) => cutMessage(message, length));
  }
  return short;
}

/** Shortens messages as {@link shortenTexts} does, and then drops the oldest messages that still do not fit. */
export function fitMessages(messages: readonly ConversationMessage[], tokens: number): ConversationMessage[] {
  const short = shortenTexts(messages, tokens);
  if (tokensOf(short) <= tokens) return short;
  return [LEFT_OUT, ...short.slice(firstKeptIndex(short, tokens))];
}

/** Placed first, because a server requires a user message there. */
const LEFT_OUT: ConversationMessage = {
  role: "user",
  content: [{ type: "text", text: "(The earlier messages are too long to be shown.)" }],
};

function cutMessage(message: ConversationMessage, length: number): ConversationMessage {
  return message.role === "user"
    ? { ...message, content: message.content.map((block) => cutUserBlock(block, length)) }
    : { ...message, content: message.content.map((block) => cutAssistantBlock(block, length)) };
}

function cutUserBlock(block: UserBlock, length: number): UserBlock {
  if (block.type === "text") return { ...block, text: cutMiddle(block.text, length) };
  // `data` is as long as the content, and is never sent to a server.
  const { data: _, ...rest } = block;
  return { ...rest, content: cutMiddle(block.content, length) };
}

function cutAssistantBlock(block: AssistantBlock, length: number): AssistantBlock {
  if (block.type === "text") return { ...block, text: cutMiddle(block.text, length) };
  if (block.type !== "tool_use" || textIn(block).length <= length) return block;
  return { ...block, input: cutInput(block.input, length) };
}

/** Truncates the texts of an input. The result is an object, because a server requires one. */
function cutInput(input: unknown, length: number): unknown {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return {};
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => {
      if (typeof value === "string") return [key, cutMiddle(value, length)];
      return [key, textIn({ type: "opaque", value }).length <= length ? value : "(left out)"];
    }),
  );
}

/** Truncates a text in the middle. Two thirds of the result are the start of the text, which usually shows its subject. */
export function cutMiddle(text: string, length: number): string {
  if (text.length <= length) return text;
  const startLength = Math.floor((length * 2) / 3);
  const start = textStart(text, startLength);
  const end = textEnd(text, Math.floor(length) - startLength);
  const left = characterCount(text.slice(start.length, text.length - end.length));
  return `${start}\n… (${left} characters were left out to make room; read them again if you need them) …\n${end}`;
}

/** Removes thinking blocks: a server accepts them only after exactly the conversation in which they were created. */
export function withoutThinking(messages: readonly ConversationMessage[]): ConversationMessage[] {
  return messages.map((message) =>
    message.role === "user"
      ? message
      : { ...message, content: message.content.filter((block) => block.type !== "opaque") },
  );
}
