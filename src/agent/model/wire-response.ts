import type { Anthropic } from "@anthropic-ai/sdk";
import type { TokenCount } from "../../schema/tokens.ts";
import type { AssistantBlock, StopReason } from "./model.ts";

type WireEvent = Anthropic.RawMessageStreamEvent;

interface OpenBlock {
  /** As the server began it; what it adds is put in. */
  readonly value: Record<string, unknown>;
  json: string;
}

/** Puts the events of one streamed answer together. */
export class AnswerBuilder {
  private readonly blocks = new Map<number, OpenBlock>();
  private readonly closed = new Set<number>();
  private stopReason: string | undefined;
  private stopped = false;
  private started = false;
  private usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

  /** Takes one event; returns the text that it adds to what a person reads. */
  add(event: WireEvent): string {
    switch (event.type) {
      case "message_start":
        this.started = true;
        this.count(event.message.usage);
        return "";
      case "content_block_start":
        return this.open(event.index, { ...event.content_block });
      case "content_block_delta":
        return this.grow(event.index, { ...event.delta });
      case "content_block_stop":
        this.closed.add(event.index);
        return "";
      case "message_delta":
        this.stopReason = event.delta.stop_reason ?? this.stopReason;
        this.count(event.usage);
        return "";
      case "message_stop":
        this.stopped = true;
        return "";
      default:
        // Kinds that are newer than this code say nothing that a turn needs.
        return "";
    }
  }

  /** Whether all of it came: some servers leave out the very last event, none the reason why it stopped. */
  get isWhole(): boolean {
    return this.stopped || (this.stopReason !== undefined && this.closed.size === this.blocks.size);
  }

  /** Whether the server has begun: from there on its tokens are paid for. */
  get begun(): boolean {
    return this.started;
  }

  get tokens(): TokenCount {
    return { ...this.usage };
  }

  get content(): AssistantBlock[] {
    return [...this.blocks].sort(([a], [b]) => a - b).map(([, block]) => finished(block));
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
    // text_delta, thinking_delta, signature_delta: each adds to the field of its own name.
    for (const field of ["text", "thinking", "signature"]) {
      const added = delta[field];
      if (typeof added === "string") block.value[field] = `${block.value[field] ?? ""}${added}`;
    }
    return delta.type === "text_delta" ? String(delta.text) : "";
  }

  /** Servers other than Anthropic's may say nothing of it. */
  private count(usage: WireUsage = {}): void {
    const { input, output, cacheRead, cacheWrite } = this.usage;
    this.usage = {
      input: usage.input_tokens ?? input,
      output: usage.output_tokens ?? output,
      cacheRead: usage.cache_read_input_tokens ?? cacheRead,
      cacheWrite: usage.cache_creation_input_tokens ?? cacheWrite,
    };
  }
}

/** The counts are running totals; one that is missing stays as it was. */
interface WireUsage {
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
}

function finished({ value, json }: OpenBlock): AssistantBlock {
  if (value.type === "text") return { type: "text", text: String(value.text ?? "") };
  if (value.type !== "tool_use") return { type: "opaque", value };
  return {
    type: "tool_use",
    id: String(value.id),
    name: String(value.name),
    input:
      json === "" && isObject(value.input) ? value.input : inputOf(json || JSON.stringify(value.input ?? {})),
  };
}

/** Input that was cut in the middle, or is no object, becomes one, as the API wants it back, and one that no tool is called with. */
function inputOf(json: string): object {
  try {
    const value: unknown = JSON.parse(json);
    if (isObject(value)) return value;
  } catch {
    // Whoever makes the calls tells the model.
  }
  return { incomplete_json: json };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether this is what stands for an input that was cut in the middle, or was no object. */
export function isTruncatedInput(input: unknown): boolean {
  return isObject(input) && Object.keys(input).join() === "incomplete_json";
}
