import type { AgentEvent } from "../agent/events.ts";
import { messageOf } from "../errors.ts";
import { sumOf } from "../schema/tokens.ts";
import { type DebugLogOptions, openDebugLog } from "../telemetry/debug-log.ts";
import type { WorkerView } from "../worker/view.ts";

/** Returns a view that also writes messages, events and decisions to the debug log; the view itself if the log is off. */
export function withDebugLog<V extends WorkerView>(view: V, session: Omit<DebugLogOptions, "problem">): V {
  const problem = (error: unknown): void =>
    view.error(`the debug log cannot be written: ${messageOf(error)}`);
  const log = openDebugLog({ ...session, problem });
  if (log === undefined) return view;
  const { note } = log;
  return {
    ...view,
    event(event) {
      const text = eventLine(event);
      if (text !== undefined) note(text);
      view.event(event);
    },
    received(from, text, color) {
      note(`reads a message from ${from} (${text.length} characters)`);
      view.received(from, text, color);
    },
    queued(from, line) {
      note(`queued: a message from ${from}, until the end of this turn`);
      view.queued(from, line);
    },
    typed(line, key) {
      note(`reads a typed line (${line.length} characters)`);
      view.typed(line, key);
    },
    idle() {
      note("idle");
      view.idle();
    },
    waiting(reason, by, request) {
      note(reason);
      view.waiting(reason, by, request);
    },
    permission(ask) {
      note(`permission request ${ask.id}: ${ask.tool}(${ask.summary}): ${ask.reason}`);
      return view.permission(ask);
    },
    note(text, about) {
      note(text);
      view.note(text, about);
    },
    error(text) {
      note(`error: ${text}`);
      view.error(text);
    },
  };
}

/** Returns the log line of an event; undefined for texts, which are in the conversation. */
function eventLine(event: AgentEvent): string | undefined {
  switch (event.type) {
    case "model_called": {
      const { model, outcome, stopReason, failure, usage, ms } = event;
      const how = stopReason ?? failure ?? "";
      return `model ${model} ${outcome}: ${how}; ${sumOf(usage)} tokens in ${ms} ms`;
    }
    case "throttled": {
      const { attempt, reason, delayMs } = event;
      return `model attempt ${attempt} failed: ${reason}; next attempt in ${delayMs} ms`;
    }
    case "tool_started":
      return `${event.tool}(${event.summary}) ${event.id}`;
    case "tool_ended": {
      const { id, tool, isError, content, ms } = event;
      return `${tool} ${id} ${isError ? "failed" : "done"}: ${content.length} characters in ${ms} ms`;
    }
    case "permission_decided": {
      const { id, tool, allowed, asked, reason } = event;
      const how = `${allowed ? "allowed" : "refused"} ${asked ? "when asked" : "by rules and mode"}`;
      return `permission for ${tool} ${id}: ${how}${reason === undefined ? "" : `: ${reason}`}`;
    }
    case "hook_ran":
      return `hook ${event.event}: ${event.result} in ${event.ms} ms`;
    case "hook":
      return `hook ${event.event}: ${event.text}`;
    case "compacting":
      return event.isAsked
        ? "summarising the conversation for a person"
        : "the context window is nearly full: summarising the oldest part of the conversation";
    case "cleared":
      return "conversation cleared by a person";
    case "compacted":
      return `compacted: ${event.before} to ${event.after} tokens${event.noSummary === undefined ? "" : `, without a summary: ${event.noSummary}`}`;
    case "turn_ended":
      return `turn ${event.outcome}${event.failure === undefined ? "" : `: ${event.failure}`}`;
    case "text_dropped":
      return "the stream broke: its text is discarded";
    default:
      return undefined;
  }
}
