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

/** What calls of the model took. */
export interface Spent {
  readonly usage: TokenCount;
  /** US dollars; of a model without a known price 0. */
  readonly costUsd: number;
}

/** What became of one call of the model. A message of a call that did not end well is what had come of it. */
export type ModelAnswer =
  | {
      readonly outcome: "answered";
      readonly message: AssistantMessage;
      readonly spent: Spent;
      /** Tokens of the conversation with this answer, as the server counted them; 0 where it said nothing. */
      readonly size: number;
      readonly stopReason: StopReason;
    }
  | {
      readonly outcome: "interrupted" | "failed";
      readonly message: AssistantMessage | undefined;
      readonly spent: Spent;
      readonly failure: string;
      /** What kind of failure, where the model said so. */
      readonly kind?: ModelFailure | undefined;
      /** With `too_long`: how many tokens the server takes. */
      readonly limit?: number | undefined;
    };

/** Calls the model and tells what it says while it says it, and what it took. Never rejects. */
export async function streamAnswer(
  model: Model,
  request: ModelRequest,
  signal: AbortSignal,
  emit: (event: AgentEvent) => void,
): Promise<ModelAnswer> {
  const begun = steadyNow();
  const answer = await callOnce(model, request, signal, emit);
  const { outcome, spent } = answer;
  const how = outcome === "answered" ? { stopReason: answer.stopReason } : { failure: answer.failure };
  const ms = Math.round(steadyNow() - begun);
  emit({ type: "model_called", model: model.name, outcome, ...how, ...spent, ms });
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
          const { message, stopReason, usage } = event;
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

/** What an interrupted call had said, and which turn of a playbook it was; undefined when there is nothing to keep. */
function unfinished(text: string, turn: string | undefined): AssistantMessage | undefined {
  if (text.trim() === "" && turn === undefined) return undefined;
  return {
    role: "assistant",
    content: text.trim() === "" ? [] : [{ type: "text", text }],
    unfinished: true,
    ...(turn === undefined ? {} : { turn }),
  };
}
