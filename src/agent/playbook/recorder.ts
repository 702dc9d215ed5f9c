import { type Clock, systemClock } from "../../os/clock.ts";
import type { Turn } from "../../schema/playbook.ts";
import type { TokenCount } from "../../schema/tokens.ts";
import { messageText, toolUsesOf } from "../model/messages.ts";
import type { AssistantMessage, Model, ModelRequest } from "../model/model.ts";
import { type RunFacts, recordedCondition, recordedText, recordedTools } from "./record-turn.ts";

/** Longest pause that a playbook may hold, in milliseconds (schema/playbook.ts). */
const LONGEST_MS = 600_000;
/** Shorter ones than a person notices are left out, in milliseconds. */
const SHORT_MS = 50;

interface RecorderOptions {
  readonly run: RunFacts;
  /** Takes each turn as soon as the model has said it. */
  readonly record: (turn: Turn) => void;
  readonly clock?: Clock;
}

/**
 * A model that says what another says, and hands each whole answer on as a turn of a playbook. What was interrupted or
 * failed is no turn: the replay has no need to fail again.
 */
export function recordingModel(model: Model, { run, record, clock = systemClock }: RecorderOptions): Model {
  return {
    ...model,
    async *stream(request, signal) {
      const asked = clock.now();
      let answeredAt: number | undefined;
      for await (const event of model.stream(request, signal)) {
        // A playbook streams its texts at a pace of its own.
        if (event.type === "text" || event.type === "message") answeredAt ??= clock.now();
        if (event.type === "message") {
          const delayMs = Math.max(0, (answeredAt ?? asked) - asked);
          record(turnOf(request, event, { run, delayMs }));
        }
        yield event;
      }
    },
  };
}

interface Answer {
  readonly message: AssistantMessage;
  readonly usage: TokenCount;
}

/** An answer as the turn that gives it again. */
function turnOf(
  request: ModelRequest,
  { message, usage }: Answer,
  { run, delayMs }: { readonly run: RunFacts; readonly delayMs: number },
): Turn {
  const on = recordedCondition(request, run);
  const say = messageText(message);
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  const tools = recordedTools(request, toolUsesOf(message), run);
  return {
    ...(on === undefined ? {} : { on }),
    ...(say === "" ? {} : { say: recordedText(say) }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(delayMs < SHORT_MS ? {} : { delayMs: Math.min(delayMs, LONGEST_MS) }),
    ...(input + usage.output === 0 ? {} : { usage: { input, output: usage.output } }),
  };
}
