import { messageOf } from "../../errors.ts";
import { steadyNow } from "../../os/clock.ts";
import { addTokens, NO_TOKENS, sumOf, type TokenCount } from "../../schema/tokens.ts";
import type { AgentEvent } from "../events.ts";
import {
  type AssistantMessage,
  type Model,
  ModelError,
  type ModelFailure,
  type ModelRequest,
  type StopReason,
} from "../model/model.ts";
import { withShallowInputs } from "../model/unusable-input.ts";

/** Tokens and cost of model calls. */
export interface Spent {
  readonly usage: TokenCount;
  /** US dollars; 0 for a model without a known price. */
  readonly costUsd: number;
}

/** The result of one model call. The message of an interrupted call is its incomplete text. */
export type ModelAnswer =
  | {
      readonly outcome: "answered";
      readonly message: AssistantMessage;
      readonly spent: Spent;
      /** Tokens of the conversation with this answer, as the server counted them; 0 if it reported none. */
      readonly size: number;
      readonly stopReason: StopReason;
    }
  | {
      readonly outcome: "interrupted" | "failed";
      readonly message: AssistantMessage | undefined;
      readonly spent: Spent;
      readonly failure: string;
      /** Kind of failure, if known. */
      readonly kind?: ModelFailure | undefined;
      /** With `too_long`: how many tokens the server accepts. */
      readonly limit?: number | undefined;
    };

/** Calls the model, and emits its text as it streams and then its cost. Never rejects. */
export async function streamAnswer(
  model: Model,
  request: ModelRequest,
  signal: AbortSignal,
  emit: (event: AgentEvent) => void,
): Promise<ModelAnswer> {
  const startedAt = steadyNow();
  const answer = await callOnce(model, request, signal, emit);
  const { outcome, spent } = answer;
  const reason = outcome === "answered" ? { stopReason: answer.stopReason } : { failure: answer.failure };
  const ms = Math.round(steadyNow() - startedAt);
  emit({ type: "model_called", model: model.name, outcome, ...reason, ...spent, ms });
  return answer;
}

async function callOnce(
  model: Model,
  request: ModelRequest,
  signal: AbortSignal,
  emit: (event: AgentEvent) => void,
): Promise<ModelAnswer> {
  let text = "";
  let turn: string | undefined;
  let spent = NOTHING_SPENT;
  const count = (usage: TokenCount): void => {
    spent = addSpent(spent, { usage, costUsd: model.cost?.(usage) ?? 0 });
  };
  try {
    for await (const event of model.stream(request, signal)) {
      switch (event.type) {
        case "begun":
          turn = event.turn;
          break;
        case "text":
          text += event.text;
          emit(event);
          break;
        case "thinking":
          emit(event);
          break;
        case "restart":
          text = "";
          emit({ type: "text_dropped" });
          break;
        case "retry":
          emit({ ...event, type: "throttled" });
          break;
        case "spent":
          count(event.usage);
          break;
        case "message": {
          count(event.usage);
          const { stopReason, usage } = event;
          const message = withShallowInputs(event.message);
          return { outcome: "answered", message, stopReason, spent, size: sumOf(usage) };
        }
      }
    }
    throw new Error("The model's stream ended without a message.");
  } catch (error) {
    const interrupted = signal.aborted;
    if (!interrupted && text !== "") emit({ type: "text_dropped" });
    return {
      outcome: interrupted ? "interrupted" : "failed",
      message: unfinished(interrupted ? text : "", turn),
      spent,
      failure: messageOf(error),
      ...(error instanceof ModelError ? { kind: error.kind, limit: error.limit } : {}),
    };
  }
}

export const NOTHING_SPENT: Spent = { usage: NO_TOKENS, costUsd: 0 };

export function addSpent(a: Spent, b: Spent): Spent {
  return { usage: addTokens(a.usage, b.usage), costUsd: a.costUsd + b.costUsd };
}

/** Returns the incomplete text of an interrupted call, with the playbook turn that it played; undefined if there is neither. */
function unfinished(text: string, turn: string | undefined): AssistantMessage | undefined {
  if (text.trim() === "" && turn === undefined) return undefined;
  return {
    role: "assistant",
    content: text.trim() === "" ? [] : [{ type: "text", text }],
    unfinished: true,
    ...(turn === undefined ? {} : { turn }),
  };
}
