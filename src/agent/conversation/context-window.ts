import type { AgentEvent } from "../events.ts";
import type { SessionSource } from "../hooks/settings.ts";
import type { Model, ModelRequest } from "../model/model.ts";
import type { Spent } from "./call-model.ts";
import { type AskedCompaction, type Compaction, compactConversation } from "./compaction.ts";
import type { Conversation } from "./conversation.ts";
import type { LearnedWindow } from "./transcript.ts";
import { compactionThreshold, tokensOf, tokensOfText } from "./trim-messages.ts";

interface ContextWindowOptions {
  readonly model: Model;
  readonly conversation: Conversation;
  /** Returns the next request to the model as of now. */
  readonly request: () => ModelRequest;
  /** Returns current facts that the agent reads after the compaction. */
  readonly facts: () => string;
  readonly emit: (event: AgentEvent) => void;
  /** Called after a compaction or a clearing. */
  readonly onStart: ((source: SessionSource, signal: AbortSignal) => Promise<void>) | undefined;
}

/** The result of an unsuccessful compaction. */
export type CompactionFailure = Exclude<Compaction, { readonly outcome: "compacted" }>;

const CLEARED = "[The user has cleared the conversation before this point.]";

/** Share of a rejected conversation that is assumed to fit if the server names no limit. */
const SHRINK_FACTOR = 0.75;
/** Smallest plausible ratio of a server's count to our estimate: some servers do not count cached tokens, or report 1. */
const MIN_PLAUSIBLE_SHARE = 0.25;
/** Smallest plausible limit in tokens; a smaller number in the server's message means something else. */
const MIN_LIMIT = 1_000;

/** Keeps a conversation within its model's window. */
export class ContextWindow {
  readonly #options: ContextWindowOptions;
  /** Window sizes learned from servers, by model: while the account's limit lasts, another model may take the place of this one. */
  readonly #learnedSizes = new Map<string, number>();

  constructor(options: ContextWindowOptions) {
    this.#options = options;
    const { learnedWindow: learned } = options.conversation;
    if (learned !== undefined) this.#learnedSizes.set(learned.model, learned.tokens);
  }

  /** Maximum tokens of one request; undefined if unlimited. */
  get #size(): number | undefined {
    const { window: size, name } = this.#options.model;
    const learned = this.#learnedSizes.get(name);
    return learned === undefined ? size : Math.min(size ?? Number.POSITIVE_INFINITY, learned);
  }

  /** The window size learned from the server, if it differs from the model's. */
  get #learned(): LearnedWindow | undefined {
    const { window, name } = this.#options.model;
    const size = this.#size;
    return size === undefined || size === window ? undefined : { model: name, tokens: size };
  }

  /** Whether the conversation must be compacted before the next call. */
  get isNearlyFull(): boolean {
    const { conversation } = this.#options;
    const size = this.#size;
    // A freshly compacted conversation is not compacted again: the server decides whether it fits.
    return size !== undefined && !conversation.isCompact && this.#length() > compactionThreshold(size);
  }

  /**
   * Shrinks the known window after the server rejected the conversation.
   * @param limit the number of tokens that it accepts, if it named one
   */
  recordTooLong(limit: number | undefined): void {
    const known = this.#size ?? Number.POSITIVE_INFINITY;
    const [counted, estimated] = [this.#length(), this.#estimate()];
    const sent = counted < estimated * MIN_PLAUSIBLE_SHARE ? estimated : counted;
    const named = limit !== undefined && limit >= MIN_LIMIT ? limit : undefined;
    const size = Math.min(known, named ?? Math.floor(Math.min(known, sent) * SHRINK_FACTOR));
    this.#learnedSizes.set(this.#options.model.name, size);
  }

  /** Records that the window was full in the middle of an answer. If the estimate was lower, the window is smaller than known. */
  recordFull(): void {
    if (!this.isNearlyFull) this.recordTooLong(undefined);
  }

  /**
   * Replaces the oldest part of the conversation with a summary.
   * @param onSpent called with the cost of each model call
   * @param asked by a person, between two turns: the whole conversation is summarised
   * @returns undefined on success
   */
  async compact(
    signal: AbortSignal,
    onSpent: (spent: Spent) => void,
    asked?: AskedCompaction,
  ): Promise<CompactionFailure | undefined> {
    const { model, conversation, request, facts, emit, onStart } = this.#options;
    // Both sizes are our own estimate, because no server has counted the compacted conversation.
    const before = this.#estimate();
    emit({ type: "compacting", isAsked: asked !== undefined });
    const result = await compactConversation({
      ...{ model, signal, facts, emit, onSpent, asked },
      request: request(),
      window: this.#size ?? this.#length(),
    });
    if (result.outcome !== "compacted") return result;
    conversation.replace(result.messages, this.#learned, asked && "between-turns");
    const { noSummary } = result;
    const note = noSummary === undefined ? {} : { noSummary };
    emit({ type: "compacted", before, after: this.#estimate(), ...note });
    await onStart?.("compact", signal);
    return undefined;
  }

  /** Removes all messages between two turns. The agent still reads the current facts, such as unfinished work. */
  async clear(signal: AbortSignal): Promise<void> {
    const { conversation, facts, emit, onStart } = this.#options;
    const now = facts().trim();
    const text = `${CLEARED}\n\n# The current state, read from the disk\n\n${now}`;
    const messages =
      now === "" ? [] : [{ role: "user" as const, content: [{ type: "text" as const, text }] }];
    conversation.replace(messages, this.#learned, "cleared");
    emit({ type: "cleared" });
    await onStart?.("clear", signal);
  }

  /** Tokens of the next request: the server's count, with an estimate for newer messages. */
  #length(): number {
    return this.#options.conversation.length(() => this.#fixedTokens());
  }

  /** Tokens of the next request by our estimate alone. */
  #estimate(): number {
    return tokensOf(this.#options.conversation.messages) + this.#fixedTokens();
  }

  /** Tokens of the system prompt and the tools in each request. */
  #fixedTokens(): number {
    const { system, tools } = this.#options.request();
    return tokensOfText(system) + tokensOfText(JSON.stringify(tools));
  }
}
