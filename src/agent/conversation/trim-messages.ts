import type { AssistantBlock, ConversationMessage, UserBlock } from "../model/model.ts";

/** Bytes that make a token, rather too few of them: a prompt is better guessed too long than too short. */
const BYTES_PER_TOKEN = 3;
/** Of what stands around the text of a block. */
const TOKENS_PER_BLOCK = 8;

/** How many tokens a text may be, where no server has counted them. */
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

/** Tokens of a conversation at which it is compacted: what is left holds one more answer and the summary's own call. */
export function compactionPoint(window: number): number {
  return Math.floor(Math.max(window * 0.5, Math.min(window * 0.85, window - 40_000)));
}

/** Tokens of the newest messages that stay as they are, of a window. */
export function keptTokens(window: number): number {
  return Math.floor(Math.min(window * 0.2, 30_000));
}

/**
 * Where the newest part of a conversation begins that stays: as much as fits into so many tokens, at least the last step;
 * never between a call and its result. 0 where all of it stays.
 */
export function splitPoint(messages: readonly ConversationMessage[], tokens: number): number {
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

/** Characters of one text, from the longest result of a tool down to what still tells what it was. */
const MAX_TEXT = 100_000;
const MIN_TEXT = 500;

/**
 * The same messages in so many tokens, if that can be: their longest texts are cut in the middle, all at the same length,
 * which one huge result of a tool alone may need.
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

/** As {@link shortenTexts}; what is still too much is left out from the oldest on. */
export function fitMessages(messages: readonly ConversationMessage[], tokens: number): ConversationMessage[] {
  const short = shortenTexts(messages, tokens);
  if (tokensOf(short) <= tokens) return short;
  return [LEFT_OUT, ...short.slice(splitPoint(short, tokens))];
}

/** A server wants a user's message first. */
const LEFT_OUT: ConversationMessage = {
  role: "user",
  content: [{ type: "text", text: "(What was before this is too long to be shown.)" }],
};

function cutMessage(message: ConversationMessage, length: number): ConversationMessage {
  return message.role === "user"
    ? { ...message, content: message.content.map((block) => cutUserBlock(block, length)) }
    : { ...message, content: message.content.map((block) => cutAssistantBlock(block, length)) };
}

function cutUserBlock(block: UserBlock, length: number): UserBlock {
  if (block.type === "text") return { ...block, text: cutMiddle(block.text, length) };
  // The value beside the content is as long, and no server sees it.
  const { data: _, ...rest } = block;
  return { ...rest, content: cutMiddle(block.content, length) };
}

function cutAssistantBlock(block: AssistantBlock, length: number): AssistantBlock {
  if (block.type === "text") return { ...block, text: cutMiddle(block.text, length) };
  if (block.type !== "tool_use" || textIn(block).length <= length) return block;
  return { ...block, input: cutInput(block.input, length) };
}

/** An input keeps its form: a server wants an object back. */
function cutInput(input: unknown, length: number): unknown {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return {};
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => {
      if (typeof value === "string") return [key, cutMiddle(value, length)];
      return [key, textIn({ type: "opaque", value }).length <= length ? value : "(left out)"];
    }),
  );
}

/** Two thirds of what stays are the start: there stands what a text is. */
export function cutMiddle(text: string, length: number): string {
  if (text.length <= length) return text;
  const start = Math.floor((length * 2) / 3);
  const end = Math.floor(length) - start;
  const left = text.length - start - end;
  const note = `\n… (${left} characters were left out to make room; read them again where you need them) …\n`;
  return `${text.slice(0, start)}${note}${end === 0 ? "" : text.slice(-end)}`;
}

/** Without what a model thought: a server takes that back only behind the very conversation that it stood behind. */
export function withoutThinking(messages: readonly ConversationMessage[]): ConversationMessage[] {
  return messages.map((message) =>
    message.role === "user"
      ? message
      : { ...message, content: message.content.filter((block) => block.type !== "opaque") },
  );
}
