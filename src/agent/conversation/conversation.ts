import { sumOf } from "../../schema/tokens.ts";
import type { AssistantMessage, ConversationMessage, UserMessage } from "../model/model.ts";
import { addSpent, type Spent } from "./call-model.ts";
import type { LearnedWindow, Transcript } from "./transcript.ts";
import { tokensOf } from "./trim-messages.ts";

/**
 * Inbox keys that are remembered, the newest: far more than one turn has messages, and no message of an earlier one is
 * delivered again.
 */
const MAX_KEYS = 10_000;

/** A conversation as the agent goes on with it, each change on the disk before anything follows from it. */
export class Conversation {
  /** The same array for as long as the agent lives. */
  readonly messages: ConversationMessage[];
  readonly handledKeys: Set<string>;
  readonly #transcript: Transcript;
  #newestKeys: readonly string[];
  #spent: Spent;
  /** What the server counted last, and up to which message; 0 where it has not since the newest compaction. */
  #sized: { readonly tokens: number; readonly upTo: number };
  #compactedTo = 0;

  constructor(transcript: Transcript) {
    const { messages, handledKeys, newestKeys, tokens, costUsd, size } = transcript.restored;
    this.#transcript = transcript;
    this.messages = [...messages];
    this.handledKeys = new Set(handledKeys);
    this.#newestKeys = newestKeys;
    this.#spent = { usage: tokens, costUsd };
    this.#sized = { tokens: size.tokens, upTo: Math.max(0, messages.length - size.behind) };
  }

  /** Of the whole conversation. */
  get spent(): Spent {
    return this.#spent;
  }

  /** What a turn begins with. @param keys of the inbox's messages in it */
  addInput(message: UserMessage, keys: readonly string[]): void {
    this.#transcript.append({ type: "user", message, ...(keys.length === 0 ? {} : { keys }) });
    this.messages.push(message);
    this.#newestKeys = keys;
    for (const key of keys) this.handledKeys.add(key);
    for (const oldest of this.handledKeys) {
      if (this.handledKeys.size <= MAX_KEYS) return;
      this.handledKeys.delete(oldest);
    }
  }

  /** What is said to the model inside of a turn: results of tools, notes. */
  addUserContent(content: UserMessage["content"]): void {
    const message: UserMessage = { role: "user", content };
    this.#transcript.append({ type: "user", message });
    this.messages.push(message);
  }

  /** @param size tokens of the conversation with it, as the server counted them; undefined of one that is not whole */
  addAnswer(message: AssistantMessage, spent: Spent, size: number | undefined): void {
    this.#transcript.append({ type: "assistant", message, ...spent });
    this.messages.push(message);
    this.#spent = addSpent(this.#spent, spent);
    if (size !== undefined) this.#sized = { tokens: size, upTo: this.messages.length };
  }

  /** What a call took that left no message. */
  addCost(spent: Spent): void {
    if (sumOf(spent.usage) === 0) return;
    this.#transcript.append({ type: "spent", ...spent });
    this.#spent = addSpent(this.#spent, spent);
  }

  /** What a server has said of its window, as the newest compaction knew it. */
  get learnedWindow(): LearnedWindow | undefined {
    return this.#transcript.restored.window;
  }

  /** Goes on with these messages in place of all. @param window kept for the next process */
  replace(messages: readonly ConversationMessage[], window: LearnedWindow | undefined): void {
    const keys = [...this.handledKeys];
    this.#transcript.append({
      type: "compacted",
      messages,
      keys,
      newestKeys: this.#newestKeys,
      ...this.#spent,
      ...(window === undefined ? {} : { window }),
    });
    this.messages.splice(0, this.messages.length, ...messages);
    this.#sized = { tokens: 0, upTo: 0 };
    this.#compactedTo = this.messages.length;
  }

  /**
   * Tokens of the conversation, with a guess at what no server has counted.
   * @param carried tokens of what each request holds beside it
   */
  length(carried: () => number): number {
    const { tokens, upTo } = this.#sized;
    return tokens > 0 ? tokens + tokensOf(this.messages.slice(upTo)) : tokensOf(this.messages) + carried();
  }

  /** Whether it is as the newest compaction left it, which is as short as it gets. */
  get isCompact(): boolean {
    return this.#sized.tokens === 0 && this.messages.length === this.#compactedTo;
  }
}
