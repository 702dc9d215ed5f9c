import { steadyNow } from "../../os/clock.ts";
import type { PlaybookTurn } from "../../schema/playbook.ts";
import type { TokenCount } from "../../schema/tokens.ts";
import { messageText, toolUsesOf } from "../model/messages.ts";
import type { AssistantMessage, Model, ModelRequest } from "../model/model.ts";
import {
  escapePlaceholders,
  type RecordingContext,
  recordedCondition,
  recordedTools,
} from "./record-turn.ts";

/** The longest delay that a playbook may have, in milliseconds (schema/playbook.ts). */
const MAX_DELAY_MS = 600_000;
/** Shorter delays are left out, since a person does not notice them; in milliseconds. */
const MIN_DELAY_MS = 50;

interface RecorderOptions {
  readonly run: RecordingContext;
  /** Called with each turn as soon as its message is complete. */
  readonly record: (turn: PlaybookTurn) => void;
}

/**
 * Wraps a model and records each complete message as a turn of a playbook. Interrupted and failed calls are left out,
 * since a replay need not fail again, and so are summaries, since a playbook has no window.
 */
export function recordingModel(model: Model, { run, record }: RecorderOptions): Model {
  return {
    ...model,
    // The data of a TaskCreate has the id of the task.
    readsData: true,
    async *stream(request, signal) {
      const asked = steadyNow();
      let answeredAt: number | undefined;
      for await (const event of model.stream(request, signal)) {
        // The delay ends with the first text: a playbook streams its texts at its own pace.
        if (event.type === "text" || event.type === "message") answeredAt ??= steadyNow();
        if (event.type === "message" && !request.isForSummary) {
          const delayMs = Math.round((answeredAt ?? asked) - asked);
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

/** Returns the turn that replays a message. */
function turnOf(
  request: ModelRequest,
  { message, usage }: Answer,
  { run, delayMs }: { readonly run: RecordingContext; readonly delayMs: number },
): PlaybookTurn {
  const on = recordedCondition(request, run);
  const say = messageText(message);
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
