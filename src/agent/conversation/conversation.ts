import { sumOf } from "../../schema/tokens.ts";
import type { AgentEvent } from "../events.ts";
import type { AssistantMessage, ConversationMessage, UserMessage } from "../model/model.ts";
import { addSpent, type Spent } from "./call-model.ts";
import type { LearnedWindow, Transcript } from "./transcript.ts";
import { TranscriptWriter } from "./transcript-writer.ts";
import { tokensOf } from "./trim-messages.ts";

/**
 * Maximum number of inbox keys to keep: the newest. One turn has far fewer messages, and messages of earlier turns never
 * return.
 */
const MAX_KEYS = 10_000;

/**
 * The conversation of a running agent. Each change is written to the disk before the agent acts on it: the agent waits for
 * {@link Conversation.written}, which lasts as long as the disk is full.
 */
export class Conversation {
  /** The array itself never changes, only its content. */
  readonly messages: ConversationMessage[];
  readonly handledKeys: Set<string>;
  readonly #transcript: Transcript;
  readonly #writer: TranscriptWriter;
  readonly #emit: (event: AgentEvent) => void;
  #newestKeys: readonly string[];
  #spent: Spent;
  /** Newest token count of the server, and the number of messages that it covers; 0 if none since the newest compaction. */
  #sized: { readonly tokens: number; readonly upTo: number };
  #compactedTo = 0;

  constructor(transcript: Transcript, emit: (event: AgentEvent) => void) {
    const { messages, handledKeys, newestKeys, tokens, costUsd, size, damage } = transcript.restored;
    this.#transcript = transcript;
    this.#emit = emit;
    this.#writer = new TranscriptWriter({
      transcript,
      onFailure: (unsaved) => emit({ type: "unsaved", ...unsaved }),
      onRecovery: () => emit({ type: "saved" }),
    });
    this.messages = [...messages];
    this.handledKeys = new Set(handledKeys);
    this.#newestKeys = newestKeys;
    this.#spent = { usage: tokens, costUsd };
    this.#sized = { tokens: size.tokens, upTo: Math.max(0, messages.length - size.newerMessages) };
    if (damage !== undefined) emit({ type: "damaged", text: damage });
  }

  /** Waits until every change is on the disk. @returns false if the signal aborts or the conversation is closed first */
  written(signal?: AbortSignal): Promise<boolean> {
    return this.#writer.written(signal);
  }

  /**
   * Waits until the newest input is on the disk, and then calls `recorded`. An interrupt ends only the wait: `recorded` is still
   * called later, so that the messages of the input count as received.
   */
  async inputWritten(signal: AbortSignal, recorded: () => Promise<void> | undefined): Promise<void> {
    if (await this.written(signal)) return recorded();
    void this.written().then(
      (isWritten) => (isWritten ? recorded() : undefined),
      // The messages stay unread, and the next change of the conversation fails as well.
      () => undefined,
    );
  }

  /** Makes a last attempt to write unsaved entries, and reports lost entries. Call it when the agent ends. */
  async close(): Promise<void> {
    const unsaved = await this.#writer.close();
    if (unsaved !== undefined) this.#emit({ type: "unsaved", ...unsaved, isLost: true });
  }

  /** Cost of the whole conversation. */
  get spent(): Spent {
    return this.#spent;
  }

  /** Adds the input of a turn. @param keys inbox keys of the messages in it */
  addInput(message: UserMessage, keys: readonly string[]): void {
    this.#writer.append({ type: "user", message, ...(keys.length === 0 ? {} : { keys }) });
    this.messages.push(message);
    this.#newestKeys = keys;
    for (const key of keys) this.handledKeys.add(key);
    for (const oldest of this.handledKeys) {
      if (this.handledKeys.size <= MAX_KEYS) return;
      this.handledKeys.delete(oldest);
    }
  }

  /** Adds content for the model during a turn: tool results and notes. */
  addUserContent(content: UserMessage["content"]): void {
    const message: UserMessage = { role: "user", content };
    this.#writer.append({ type: "user", message });
    this.messages.push(message);
  }

  /**
   * Adds an answer of the model.
   * @param size tokens counted by the server, including the answer; undefined if it is incomplete
   */
  addAnswer(message: AssistantMessage, spent: Spent, size: number | undefined): void {
    this.#writer.append({ type: "assistant", message, ...spent });
    this.messages.push(message);
    this.#spent = addSpent(this.#spent, spent);
    if (size !== undefined) this.#sized = { tokens: size, upTo: this.messages.length };
  }

  /** Adds the cost of a call that left no message. */
  addCost(spent: Spent): void {
    if (sumOf(spent.usage) === 0 && spent.costUsd === 0) return;
    this.#writer.append({ type: "spent", ...spent });
    this.#spent = addSpent(this.#spent, spent);
  }

  /** Window size learned from the server, as the newest compaction recorded it. */
  get learnedWindow(): LearnedWindow | undefined {
    return this.#transcript.restored.window;
  }

  /**
   * Replaces all messages.
   * @param window recorded for the next process
   * @param how `between-turns`: no turn is unfinished; `cleared`: no message is left
   */
  replace(
    messages: readonly ConversationMessage[],
    window: LearnedWindow | undefined,
    how?: "between-turns" | "cleared",
  ): void {
    const keys = [...this.handledKeys];
    // The next process must not search for the turn of removed messages.
    if (how !== undefined) this.#newestKeys = [];
    this.#writer.append({
      type: "compacted",
      messages,
      keys,
      newestKeys: this.#newestKeys,
      ...this.#spent,
      ...(how === "cleared" ? { cleared: true } : {}),
      ...(window === undefined ? {} : { window }),
    });
    this.messages.splice(0, this.messages.length, ...messages);
    this.#sized = { tokens: 0, upTo: 0 };
    this.#compactedTo = this.messages.length;
  }

  /**
   * Returns the tokens of the conversation: the server's count, plus an estimate for messages that it has not counted.
   * @param fixedTokens returns the tokens of the system prompt and the tools, which the server's count includes
   */
  length(fixedTokens: () => number): number {
    const { tokens, upTo } = this.#sized;
    return tokens > 0
      ? tokens + tokensOf(this.messages.slice(upTo))
      : tokensOf(this.messages) + fixedTokens();
  }

  /** Whether nothing was added since the newest compaction; the conversation then cannot get shorter. */
  get isCompact(): boolean {
    return this.#sized.tokens === 0 && this.messages.length === this.#compactedTo;
  }
}
