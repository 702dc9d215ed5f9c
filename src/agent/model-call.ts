import { messageOf } from "../errors.ts";
import { NO_TOKENS, type TokenCount } from "../schema/status.ts";
import type { AgentEvent } from "./events.ts";
import type { AssistantMessage, Model, ModelRequest, StopReason } from "./model/model.ts";

/** What became of one call of the model. A message of a call that did not end well is what had come of it. */
export type ModelAnswer =
  | {
      readonly outcome: "answered";
      readonly message: AssistantMessage;
      readonly usage: TokenCount;
      readonly stopReason: StopReason;
    }
  | {
      readonly outcome: "interrupted" | "failed";
      readonly message: AssistantMessage | undefined;
      readonly usage: TokenCount;
      readonly failure: string;
    };

/** Calls the model and tells what it says while it says it. Never rejects. */
export async function streamAnswer(
  model: Model,
  request: ModelRequest,
  signal: AbortSignal,
  emit: (event: AgentEvent) => void,
): Promise<ModelAnswer> {
  let text = "";
  let turn: string | undefined;
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
        case "message":
          return { outcome: "answered", ...event };
      }
    }
    throw new Error("The model's stream ended without a message.");
  } catch (error) {
    const interrupted = signal.aborted;
    if (!interrupted && text !== "") emit({ type: "text_dropped" });
    return {
      outcome: interrupted ? "interrupted" : "failed",
      message: unfinished(interrupted ? text : "", turn),
      usage: NO_TOKENS,
      failure: messageOf(error),
    };
  }
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
