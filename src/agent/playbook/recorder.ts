import { type Clock, systemClock } from "../../os/clock.ts";
import type { PlaybookTurn } from "../../schema/playbook.ts";
import type { TokenCount } from "../../schema/tokens.ts";
import { textOf, toolUsesOf } from "../model/messages.ts";
import type { AssistantMessage, Model, ModelRequest } from "../model/model.ts";
import {
  escapePlaceholders,
  type RecordingContext,
  recordedCondition,
  recordedTools,
} from "./record-turn.ts";

/** Longest pause that a playbook may hold, in milliseconds (schema/playbook.ts). */
const MAX_DELAY_MS = 600_000;
/** Shorter ones than a person notices are left out, in milliseconds. */
const MIN_DELAY_MS = 50;

export interface RecorderOptions {
  readonly run: RecordingContext;
  /** Takes each turn as soon as the model has said it. */
  readonly record: (turn: PlaybookTurn) => void;
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
  { run, delayMs }: { readonly run: RecordingContext; readonly delayMs: number },
): PlaybookTurn {
  const on = recordedCondition(request, run);
  const say = textOf(message);
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  const tools = recordedTools(request, toolUsesOf(message), run);
  return {
    ...(on === undefined ? {} : { on }),
    ...(say === "" ? {} : { say: escapePlaceholders(say) }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(delayMs < MIN_DELAY_MS ? {} : { delayMs: Math.min(delayMs, MAX_DELAY_MS) }),
    ...(input + usage.output === 0 ? {} : { usage: { input, output: usage.output } }),
  };
}
