import type { Anthropic } from "@anthropic-ai/sdk";
import type { TokenCount } from "../../schema/tokens.ts";
import { type AssistantBlock, isTruncated, ModelError, type StopReason } from "./model.ts";
import { objectInput, parseInput } from "./unusable-input.ts";

type WireEvent = Anthropic.RawMessageStreamEvent;

interface OpenBlock {
  /** The block as the server began it, with its deltas added. */
  readonly value: Record<string, unknown>;
  json: string;
}

/** Assembles one answer from its streamed events. */
export class AnswerBuilder {
  private readonly blocks = new Map<number, OpenBlock>();
  private readonly closed = new Set<number>();
  private stopReason: string | undefined;
  private stopped = false;
  private started = false;
  private usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

  /** Adds one event and returns the visible text in it. */
  add(event: WireEvent): string {
    switch (event.type) {
      case "message_start":
        this.started = true;
        this.count(partOf(event, "message").usage);
        return "";
      case "content_block_start":
        return this.open(event.index, { ...partOf(event, "content_block") });
      case "content_block_delta":
        return this.grow(event.index, { ...partOf(event, "delta") });
      case "content_block_stop":
        this.closed.add(event.index);
        return "";
      case "message_delta":
        this.stopReason = partOf(event, "delta").stop_reason ?? this.stopReason;
        this.count(event.usage);
        return "";
      case "message_stop":
        this.stopped = true;
        return "";
      default:
        // A turn does not need events of other kinds.
        return "";
    }
  }

  /** Returns the text of the thinking that this event has completed. */
  thoughtEndedBy(event: WireEvent): string | undefined {
    const value = event.type === "content_block_stop" ? this.blocks.get(event.index)?.value : undefined;
    return value === undefined ? undefined : thoughtIn(value);
  }

  /** Returns true if the answer is complete. Some servers omit the last event, but none omits the stop reason. */
  get isWhole(): boolean {
    return this.stopped || (this.stopReason !== undefined && this.closed.size === this.blocks.size);
  }

  /** Returns true if the server has begun to answer: from then on tokens are charged. */
  get begun(): boolean {
    return this.started;
  }

  get tokens(): TokenCount {
    return { ...this.usage };
  }

  get content(): AssistantBlock[] {
    const blocks = [...this.blocks].sort(([a], [b]) => a - b).map(([, block]) => block);
    return blocks.map((block, i) => finished(block, isTruncated(this.reason) && i === blocks.length - 1));
  }

  get reason(): StopReason {
    switch (this.stopReason) {
      case "tool_use":
      case "refusal":
      case "max_tokens":
      case "pause_turn":
        return this.stopReason;
      case "model_context_window_exceeded":
        return "window_exceeded";
      default:
        return "end_turn";
    }
  }

  private open(index: number, value: Record<string, unknown>): string {
    this.blocks.set(index, { value, json: "" });
    return value.type === "text" && typeof value.text === "string" ? value.text : "";
  }

  private grow(index: number, delta: Record<string, unknown>): string {
    const block = this.blocks.get(index);
    if (block === undefined) return "";
    if (delta.type === "input_json_delta") {
      block.json += String(delta.partial_json ?? "");
      return "";
    }
    // text_delta, thinking_delta and signature_delta: each extends the field of that name.
    for (const field of ["text", "thinking", "signature"]) {
      const added = delta[field];
      if (typeof added === "string") block.value[field] = `${block.value[field] ?? ""}${added}`;
    }
    return delta.type === "text_delta" && typeof delta.text === "string" ? delta.text : "";
  }

  /** Counts the reported usage. Servers other than Anthropic's may omit it, or send `null`. */
  private count(usage: WireUsage | null | undefined): void {
    const { input, output, cacheRead, cacheWrite } = this.usage;
    this.usage = {
      input: usage?.input_tokens ?? input,
      output: usage?.output_tokens ?? output,
      cacheRead: usage?.cache_read_input_tokens ?? cacheRead,
      cacheWrite: usage?.cache_creation_input_tokens ?? cacheWrite,
    };
  }
}

/**
 * Returns a part that an event must have.
 * @throws ModelError if it is missing: another attempt would get the same answer
 */
function partOf<E extends WireEvent, K extends keyof E & string>(event: E, name: K): E[K] {
  const part: unknown = event[name];
  if (typeof part === "object" && part !== null) return event[name];
  const problem = `its event ${event.type} has no ${name}`;
  throw new ModelError(
    "invalid_request",
    `The server's answer is not valid in the Messages API (${problem}). Check ANTHROPIC_BASE_URL.`,
  );
}

/** Running totals; a missing count keeps its value. */
interface WireUsage {
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
}

/** Returns the text of a block of thinking; undefined for another block, and for thinking that the server has encrypted. */
export function thoughtIn(value: unknown): string | undefined {
  const { type, thinking } = (value ?? {}) as { readonly type?: unknown; readonly thinking?: unknown };
  return type === "thinking" && typeof thinking === "string" && thinking.trim() !== "" ? thinking : undefined;
}

/** @param mayBeCut the answer may have been truncated in this block */
function finished({ value, json }: OpenBlock, mayBeCut: boolean): AssistantBlock {
  if (value.type === "text") return { type: "text", text: String(value.text ?? "") };
  if (value.type !== "tool_use") return { type: "opaque", value };
  const given = objectInput(value.input ?? {});
  // An empty input may be the truncated start of an input, and some tools accept an empty one.
  const isCut = mayBeCut && Object.keys(given).length === 0;
  return {
    type: "tool_use",
    id: String(value.id),
    name: String(value.name),
    input: json === "" && !isCut ? given : parseInput(json),
  };
}
