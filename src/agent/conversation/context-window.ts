import type { AgentEvent } from "../events.ts";
import type { Model, ModelRequest } from "../model/model.ts";
import type { Spent } from "./call-model.ts";
import { type Compaction, compactConversation } from "./compaction.ts";
import type { Conversation } from "./conversation.ts";
import type { LearnedWindow } from "./transcript.ts";
import { compactionPoint, tokensOf, tokensOfText } from "./trim-messages.ts";

interface ContextWindowOptions {
  readonly model: Model;
  readonly conversation: Conversation;
  /** The next call of the model as it would be made now. */
  readonly request: () => ModelRequest;
  /** What the agent should read of the world as it is now. */
  readonly facts: () => string;
  readonly emit: (event: AgentEvent) => void;
}

/** How a compaction ended that did not succeed. */
type CompactionFailure = Exclude<Compaction, { readonly outcome: "compacted" }>;

/** Part of a conversation that its server may take when it said no more than that all was too long. */
const SHRINK_FACTOR = 0.75;
/** Part of our own guess below which a server's count is none: some leave out what they have in a cache, or say 1. */
const MIN_PLAUSIBLE_SHARE = 0.25;
/** Tokens; a server that says less names something else. */
const MIN_LIMIT = 1_000;

/** Keeps a conversation within its model's window. */
export class ContextWindow {
  readonly #options: ContextWindowOptions;
  /** Tokens that one request may have; undefined where there is no bound. */
  #size: number | undefined;

  constructor(options: ContextWindowOptions) {
    this.#options = options;
    const { window: size, name } = options.model;
    const { learnedWindow: learned } = options.conversation;
    this.#size = learned?.model === name ? Math.min(size ?? Number.POSITIVE_INFINITY, learned.tokens) : size;
  }

  /** What its server has taught it that its model does not say itself. */
  get #learned(): LearnedWindow | undefined {
    const { window: size, name } = this.#options.model;
    return this.#size === undefined || this.#size === size ? undefined : { model: name, tokens: this.#size };
  }

  /** Whether the conversation is to be compacted before the next call. */
  get isNearlyFull(): boolean {
    const { conversation } = this.#options;
    // Whether what a compaction left fits is the server's to say.
    return this.#size !== undefined && !conversation.isCompact && this.#length() > compactionPoint(this.#size);
  }

  /** The server found the conversation too long. @param limit how many tokens it takes, where it said so */
  wasTooLong(limit: number | undefined): void {
    const known = this.#size ?? Number.POSITIVE_INFINITY;
    const [counted, guessed] = [this.#length(), this.#guess()];
    const sent = counted < guessed * MIN_PLAUSIBLE_SHARE ? guessed : counted;
    const said = limit !== undefined && limit >= MIN_LIMIT ? limit : undefined;
    this.#size = Math.min(known, said ?? Math.floor(Math.min(known, sent) * SHRINK_FACTOR));
  }

  /** The server's window was full in the middle of an answer: where it was not thought to be, it is smaller than that. */
  wasFull(): void {
    if (!this.isNearlyFull) this.wasTooLong(undefined);
  }

  /**
   * Puts a summary in place of the oldest part.
   * @param spent told of what each call of the model for it took
   * @returns why there is no more room than before; undefined when there is
   */
  async compact(signal: AbortSignal, spent: (spent: Spent) => void): Promise<CompactionFailure | undefined> {
    const { model, conversation, request, facts, emit } = this.#options;
    // What is left of it nobody but us has counted.
    const before = this.#guess();
    emit({ type: "compacting" });
    const done = await compactConversation({
      ...{ model, signal, facts, emit, spent },
      request: request(),
      window: this.#size ?? this.#length(),
    });
    if (done.outcome !== "compacted") return done;
    conversation.replace(done.messages, this.#learned);
    const { noSummary } = done;
    const flaw = noSummary === undefined ? {} : { noSummary };
    emit({ type: "compacted", before, after: this.#guess(), ...flaw });
    return undefined;
  }

  /** Tokens of the next request, as far as they can be told. */
  #length(): number {
    return this.#options.conversation.length(() => this.#carried());
  }

  /** The same by our own count alone. */
  #guess(): number {
    return tokensOf(this.#options.conversation.messages) + this.#carried();
  }

  /** Tokens of what each request holds beside the conversation. */
  #carried(): number {
    const { system, tools } = this.#options.request();
    return tokensOfText(system) + tokensOfText(JSON.stringify(tools));
  }
}
