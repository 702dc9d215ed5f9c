import type { TokenCount } from "../../schema/tokens.ts";

export type TextBlock = { readonly type: "text"; readonly text: string };
export type ToolUseBlock = {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
};
export type ToolResultBlock = {
  readonly type: "tool_result";
  readonly toolUseId: string;
  /** The text that the model reads. */
  readonly content: string;
  readonly isError: boolean;
  /** The result as a value, for playbooks (`{{name.path}}`) and recordings; never sent to a server. */
  readonly data?: unknown;
  /** The call and its result as shown to the user instead of JSON; never sent to a server. */
  readonly shown?: {
    readonly summary: string;
    readonly display: string;
    /** The change to a file, as the lines of a unified diff, bounded. */
    readonly change?: readonly string[];
  };
};
/** A vendor-specific block that must be sent back unchanged (thinking and its signature). */
type OpaqueBlock = { readonly type: "opaque"; readonly value: unknown };
export type UserBlock = TextBlock | ToolResultBlock;
export type AssistantBlock = TextBlock | ToolUseBlock | OpaqueBlock;

export interface UserMessage {
  readonly role: "user";
  readonly content: readonly UserBlock[];
  /** The source of the text, for a playbook's placeholders. Only the input that begins a turn has one. */
  readonly origin?: InputOrigin;
  /** The text replaces earlier messages, which were too long. */
  readonly summary?: true;
}
export interface AssistantMessage {
  readonly role: "assistant";
  readonly content: readonly AssistantBlock[];
  /**
   * The playbook's turn that produced this message, as `<agent list>/<index>`, so that a restarted agent continues after
   * it. If the turn failed or was interrupted, the message has no tool call and no complete text, and `unfinished` is set.
   */
  readonly turn?: string;
  /** The call ended before the message was complete: the content is the part that had arrived, possibly nothing. */
  readonly unfinished?: true;
  /** The model refused to continue: the turn is kept, but never sent to a server again. */
  readonly refused?: true;
}
export type ConversationMessage = UserMessage | AssistantMessage;

/** Facts about the newest input for playbooks; never sent to a server. */
export interface InputOrigin {
  /** The text of the newest message as sent, unescaped: `{{input}}`. */
  readonly text: string;
  /** The sender of that message: `{{message.from}}`. */
  readonly from: string;
  /** Request id of the newest protocol message: `{{request_id}}`. */
  readonly requestId?: string;
  /** A shutdown request in the input: its id, and its text as the model reads it. */
  readonly shutdown?: { readonly requestId: string; readonly text: string };
}

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly ConversationMessage[];
  readonly tools: readonly ToolSpec[];
  /** The request asks for a summary of the conversation: its answer is not part of the conversation. */
  readonly isForSummary?: true;
  /** Forbids tool calls. The tools are still sent, since without them the server's prompt cache would not match. */
  readonly toolless?: true;
  /** Absolute path of the plan file in plan mode: `{{plan_file}}`. */
  readonly planFile?: string;
}

export type StopReason =
  | "end_turn"
  | "tool_use"
  | "max_tokens"
  | "refusal"
  /** The server paused its answer: send the same conversation again. */
  | "pause_turn"
  /** The window was full before the answer was complete. */
  | "window_exceeded";

/** Whether an answer reached its maximum length: its last block may be incomplete. */
export function isTruncated(reason: StopReason): boolean {
  return reason === "max_tokens" || reason === "window_exceeded";
}

export type ModelEvent =
  /** The playbook's turn that this call plays; the first event, and kept even if the call ends early. */
  | { readonly type: "begun"; readonly turn: string }
  /** A piece of the text, in order. */
  | { readonly type: "text"; readonly text: string }
  /** The whole text of the model's thinking before its next text or calls. */
  | { readonly type: "thinking"; readonly text: string }
  /** The call failed with a transient error; the model waits and tries again. */
  | {
      readonly type: "retry";
      readonly attempt: number;
      readonly delayMs: number;
      readonly status: number | undefined;
      readonly reason: string;
    }
  /** Discards the text so far, which belongs to a failed attempt. */
  | { readonly type: "restart" }
  /** The tokens of an attempt that returned no message but was charged. */
  | { readonly type: "spent"; readonly usage: TokenCount }
  /** The complete message; the last event of a stream. */
  | {
      readonly type: "message";
      readonly message: AssistantMessage;
      readonly stopReason: StopReason;
      readonly usage: TokenCount;
    };

/**
 * The model port. `stream` yields events and ends with exactly one `message`. It throws a ModelError (from any await), or
 * AbortError once `signal` aborts. Between calls it keeps no state that the messages do not show.
 */
export interface Model {
  /** The id by which its server knows the model, or `scripted`. Changes if a fallback model takes its place. */
  readonly name: string;
  /** Maximum tokens of one request including its answer. Undefined: conversations have no limit and are never compacted. */
  readonly window?: number;
  /** Whether the model, or its recorder, reads the `data` of tool results; for other models `data` is not kept. */
  readonly readsData?: boolean;
  /** Returns the cost of one call in US dollars; undefined if the price is unknown. */
  cost?(usage: TokenCount): number | undefined;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

export type ModelFailure =
  | "auth"
  | "invalid_request"
  /** Longer than the model's window: a shorter conversation may succeed. */
  | "too_long"
  | "overloaded"
  | "rate_limited"
  /** The account's limit is reached, or the server asks for a long wait: the same call may succeed much later. */
  | "limited"
  | "server"
  | "connection";

/** A model call failed and is not retried. The turn ends, the agent does not. */
export class ModelError extends Error {
  override readonly name = "ModelError";
  readonly kind: ModelFailure;
  readonly status: number | undefined;
  /** With `too_long`: the maximum number of tokens, if the server reports it. */
  readonly limit: number | undefined;
  /** With `limited`: when the same call may succeed, in milliseconds since the epoch, if the server reports it. */
  readonly resumeAt: number | undefined;

  constructor(
    kind: ModelFailure,
    message: string,
    status?: number,
    options: ErrorOptions & {
      readonly limit?: number | undefined;
      readonly resumeAt?: number | undefined;
    } = {},
  ) {
    super(message, options);
    this.kind = kind;
    this.status = status;
    this.limit = options.limit;
    this.resumeAt = options.resumeAt;
  }
}
