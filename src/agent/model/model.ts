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
  /** What the model reads. */
  readonly content: string;
  readonly isError: boolean;
  /** The same as a value, for playbooks (`{{name.path}}`); never sent to a server. */
  readonly data?: unknown;
  /** What a person reads of the call and its result instead of their JSON; never sent to a server. */
  readonly shown?: { readonly summary: string; readonly display: string };
};
/** A block of the vendor's that must go back as it came (thinking and its signature). */
type OpaqueBlock = { readonly type: "opaque"; readonly value: unknown };
export type UserBlock = TextBlock | ToolResultBlock;
export type AssistantBlock = TextBlock | ToolUseBlock | OpaqueBlock;

export interface UserMessage {
  readonly role: "user";
  readonly content: readonly UserBlock[];
  /** What the text came from, for a playbook's placeholders. */
  readonly origin?: InputOrigin;
}
export interface AssistantMessage {
  readonly role: "assistant";
  readonly content: readonly AssistantBlock[];
  /**
   * The playbook's turn that made it, as `<agent list>/<index>`; so that a restarted agent goes on behind it. With no
   * tool call and no whole text where the turn failed or was interrupted; `unfinished` says so.
   */
  readonly turn?: string;
  /** The call ended before the message did: its content is what had come, which may be nothing. */
  readonly unfinished?: true;
  /** The model refused to go on: its turn is kept, and no server is sent it again. */
  readonly refused?: true;
}
export type ConversationMessage = UserMessage | AssistantMessage;

/** Facts of the newest input that a playbook may name; a server never sees them. */
export interface InputOrigin {
  /** The newest message's text as it was sent, unescaped: `{{input}}`. */
  readonly text: string;
  /** Its sender: `{{message.from}}`. */
  readonly from: string;
  /** Of the newest protocol message: `{{request_id}}`. */
  readonly requestId?: string;
  /** A shutdown request in it: its id, and the text that the model reads of it. */
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
  /** None of the tools may be called, though they are told: without them a server's prompt cache would hold nothing of it. */
  readonly toolless?: true;
  /** Absolute path of the plan file in plan mode: `{{plan_file}}`. */
  readonly planFile?: string;
}

export type StopReason =
  | "end_turn"
  | "tool_use"
  | "max_tokens"
  | "refusal"
  /** The server stopped for a while in the middle of work of its own: the same conversation is sent again. */
  | "pause_turn"
  /** The conversation filled the window before the answer was whole. */
  | "window_exceeded";

export type ModelEvent =
  /** Which turn of a playbook this call plays, before anything else of it; kept also when the call ends early. */
  | { readonly type: "begun"; readonly turn: string }
  /** A piece of the text, in order, as it comes. */
  | { readonly type: "text"; readonly text: string }
  /** The server said wait; the port waits and tries again by itself. */
  | {
      readonly type: "retry";
      readonly attempt: number;
      readonly delayMs: number;
      readonly status: number | undefined;
      readonly reason: string;
    }
  /** The text that came so far belongs to a try that failed in the middle: it does not count. */
  | { readonly type: "restart" }
  /** A try that gave no message was paid for all the same. */
  | { readonly type: "spent"; readonly usage: TokenCount }
  /** The whole message; the last event of a stream. */
  | {
      readonly type: "message";
      readonly message: AssistantMessage;
      readonly stopReason: StopReason;
      readonly usage: TokenCount;
    };

/**
 * The model port. `stream` yields events and ends with exactly one `message`, or throws a ModelError (from any
 * await), or AbortError once `signal` aborts; it holds no state between calls that the messages do not show.
 */
export interface Model {
  /** As the user named it (`sonnet`, `scripted`, an id). */
  readonly name: string;
  /** Tokens of one request with its answer; one without has no bound, and its conversation is never compacted. */
  readonly window?: number;
  /** Whether it reads the `data` of tools' results; for others none is kept. */
  readonly readsData?: boolean;
  /** US dollars for this usage of one call; undefined where nobody knows its price. */
  cost?(usage: TokenCount): number | undefined;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

export type ModelFailure =
  | "auth"
  | "invalid_request"
  /** More than the model's window holds: a shorter conversation may go well. */
  | "too_long"
  | "overloaded"
  | "rate_limited"
  | "server"
  | "connection";

/** A model call that is given up; the turn ends, the agent does not. */
export class ModelError extends Error {
  override readonly name = "ModelError";
  readonly kind: ModelFailure;
  readonly status: number | undefined;
  /** With `too_long`: how many tokens the server takes, where it says so. */
  readonly limit: number | undefined;

  constructor(
    kind: ModelFailure,
    message: string,
    status?: number,
    options: ErrorOptions & { readonly limit?: number | undefined } = {},
  ) {
    super(message, options);
    this.kind = kind;
    this.status = status;
    this.limit = options.limit;
  }
}
