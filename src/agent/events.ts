import { redactStream, redactValue } from "../os/redact.ts";
import type { TokenCount } from "../schema/tokens.ts";
import type { HookResult } from "./hooks/result.ts";
import type { AssistantMessage, ModelFailure, StopReason } from "./model/model.ts";

/** An action of an agent, reported as it happens. Screens, logs and cost records depend only on these events. */
export type AgentEvent =
  | { readonly type: "turn_started"; readonly input: string }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "text_dropped" }
  /** The model's thinking before its next text or calls. */
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "message"; readonly message: AssistantMessage }
  /** Tokens and US dollars of model calls, including failed calls; 0 dollars without a known price. */
  | { readonly type: "spent"; readonly usage: TokenCount; readonly costUsd: number }
  /** One call of a model ended, with all its retries. */
  | {
      readonly type: "model_called";
      readonly model: string;
      readonly outcome: "answered" | "interrupted" | "failed";
      readonly stopReason?: StopReason;
      /** Why it failed. */
      readonly failure?: string;
      readonly usage: TokenCount;
      readonly costUsd: number;
      readonly ms: number;
    }
  /** The oldest part of the conversation is being summarised. `isAsked`: a person asked for it. */
  | { readonly type: "compacting"; readonly isAsked: boolean }
  /** The conversation was compacted. Sizes are estimated tokens. */
  | {
      readonly type: "compacted";
      readonly before: number;
      readonly after: number;
      /** Why there is no summary of the removed part. */
      readonly noSummary?: string;
    }
  /** The conversation cannot be written now. The agent waits until it can, or has ended before that (`isLost`). */
  | { readonly type: "unsaved"; readonly failure: string; readonly hint: string; readonly isLost?: true }
  /** The conversation is on the disk again. */
  | { readonly type: "saved" }
  /** A part of the conversation that an earlier process wrote cannot be read, and is left out. */
  | { readonly type: "damaged"; readonly text: string }
  /** A person cleared the conversation. */
  | { readonly type: "cleared" }
  | {
      readonly type: "tool_started";
      readonly id: string;
      readonly tool: string;
      readonly summary: string;
      /** The path that the summary begins or ends with, which a pane may shorten. */
      readonly path?: string;
    }
  /** A running call has printed something. `tail` is the end of its output so far. */
  | { readonly type: "tool_output"; readonly id: string; readonly tail: string }
  | {
      readonly type: "tool_ended";
      readonly id: string;
      readonly tool: string;
      readonly content: string;
      /** Shown in a pane instead of the content. */
      readonly display?: string;
      /** The change to a file, as the lines of a unified diff, bounded. */
      readonly change?: readonly string[];
      readonly isError: boolean;
      readonly ms: number;
    }
  /** An action of a subagent of this agent. */
  | { readonly type: "subagent"; readonly what: string; readonly action: string }
  | {
      readonly type: "permission_asked";
      /** Id of the call. */
      readonly id: string;
      readonly tool: string;
      readonly summary: string;
    }
  | {
      readonly type: "permission_decided";
      /** Id of the call. */
      readonly id: string;
      readonly tool: string;
      readonly allowed: boolean;
      /** Whether a person or the lead was asked. Otherwise, rules and mode decided. */
      readonly asked: boolean;
      /** The note in the answer, else the reason of the decision. Undefined for a call allowed on request without a note. */
      readonly reason?: string;
    }
  /** A command of a hook has ended. */
  | {
      readonly type: "hook_ran";
      readonly event: string;
      readonly result: HookResult["kind"];
      readonly ms: number;
    }
  /** A notice of a hook for a person: the hook failed, stopped an action, or printed a message. */
  | { readonly type: "hook"; readonly event: string; readonly text: string }
  | {
      readonly type: "throttled";
      readonly delayMs: number;
      readonly attempt: number;
      readonly status: number | undefined;
      /** Begins with the HTTP status, if there is one. */
      readonly reason: string;
    }
  | {
      readonly type: "turn_ended";
      readonly outcome: "completed" | "interrupted" | "failed";
      readonly failure?: string;
      /** Kind of failure, if a call of the model failed. */
      readonly failureKind?: ModelFailure;
    };

/**
 * Passes events on with secrets redacted. Streamed text that may be the start of a secret, or that ends in half of a surrogate
 * pair, waits for the next piece.
 */
export function maskEvents(
  onEvent: (event: AgentEvent) => void,
  secrets: readonly string[],
): (event: AgentEvent) => void {
  const streamed = redactStream(secrets);
  const emitText = (text: string): void => {
    if (text !== "") onEvent({ type: "text", text });
  };
  return (event) => {
    if (event.type === "text") return emitText(streamed.push(event.text));
    const rest = streamed.end();
    if (event.type !== "text_dropped") emitText(rest);
    onEvent(redactValue(event, secrets));
  };
}
