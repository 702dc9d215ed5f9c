import { redactStream, redactValue } from "../os/redact.ts";
import type { TokenCount } from "../schema/tokens.ts";
import type { HookResult } from "./hooks/result.ts";
import type { AssistantMessage, StopReason } from "./model/model.ts";

/** Everything an agent does, as it does it; the whole interface to any screen, log or account. */
export type AgentEvent =
  | { readonly type: "turn_started"; readonly input: string }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "text_dropped" }
  | { readonly type: "message"; readonly message: AssistantMessage }
  /** What calls of a model took, whatever became of them; US dollars, 0 where no price is known. */
  | { readonly type: "spent"; readonly usage: TokenCount; readonly costUsd: number }
  /** One call of a model is over, with all its tries. */
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
  /** The oldest part of the conversation is being summarised. */
  | { readonly type: "compacting" }
  /** It was; in tokens, as far as they can be told. */
  | {
      readonly type: "compacted";
      readonly before: number;
      readonly after: number;
      /** Why there is no summary of what is gone. */
      readonly noSummary?: string;
    }
  | { readonly type: "tool_started"; readonly id: string; readonly tool: string; readonly summary: string }
  | {
      readonly type: "tool_ended";
      readonly id: string;
      readonly tool: string;
      readonly content: string;
      /** What a pane shows in place of the content. */
      readonly display?: string;
      readonly isError: boolean;
      readonly ms: number;
    }
  /** What an agent does that works for this one inside of its turn. */
  | { readonly type: "subagent"; readonly what: string; readonly doing: string }
  | { readonly type: "permission_asked"; readonly tool: string; readonly summary: string }
  | {
      readonly type: "permission_decided";
      readonly tool: string;
      readonly allowed: boolean;
      /** Whether somebody was asked; else rules and mode decided. */
      readonly asked: boolean;
      /** The note of the one who was asked, else why it was decided so; what somebody allowed without a note has none. */
      readonly reason?: string;
    }
  /** A command of a hook has ended. */
  | {
      readonly type: "hook_ran";
      readonly event: string;
      readonly result: HookResult["kind"];
      readonly ms: number;
    }
  /** What a person is to know of a hook: it failed, stopped something, or said so itself. */
  | { readonly type: "hook"; readonly event: string; readonly text: string }
  | {
      readonly type: "throttled";
      readonly delayMs: number;
      readonly attempt: number;
      readonly status: number | undefined;
      /** Begins with the status where there is one. */
      readonly reason: string;
    }
  | {
      readonly type: "turn_ended";
      readonly outcome: "completed" | "interrupted" | "failed";
      readonly failure?: string;
    };

/** Passes events on without a secret in them; of a streamed text, what may be the start of one waits for the next piece. */
export function maskEvents(
  onEvent: (event: AgentEvent) => void,
  secrets: readonly string[],
): (event: AgentEvent) => void {
  if (secrets.length === 0) return onEvent;
  const streamed = redactStream(secrets);
  const say = (text: string): void => {
    if (text !== "") onEvent({ type: "text", text });
  };
  return (event) => {
    if (event.type === "text") return say(streamed.push(event.text));
    const rest = streamed.end();
    if (event.type !== "text_dropped") say(rest);
    onEvent(redactValue(event, secrets));
  };
}
