import type { AgentEvent } from "../../agent/events.ts";
import { cutToWidth, displayWidth } from "../../text/cell-width.ts";
import { shortSummary } from "../../text/short-call.ts";
import { TONE } from "../../text/style.ts";
import { gridText } from "../../text/terminal-text.ts";
import type { PaneWriter } from "./pane-writer.ts";
import type { ResultWriter } from "./tool-result.ts";

/** Columns around a call's name: its sign, the parentheses, and a minimum for its summary. */
const AROUND_A_NAME = 14;

/** Returns a function that writes the events of a turn as they happen. */
export function eventWriter(pane: PaneWriter, results: ResultWriter): (event: AgentEvent) => void {
  const { styleText, notice } = pane;
  /** Calls without a result yet, by id. */
  const calls = new Map<string, StartedCall>();
  /** The call whose result would be directly below it. */
  let open: string | undefined;

  const writeCall = (call: StartedCall): void => {
    const { tool, summary } = call;
    pane.begin("tool");
    const name = cutToWidth(gridText(tool), pane.width() - AROUND_A_NAME);
    const room = pane.width() - 5 - displayWidth(name);
    const what = shortSummary(call, pane.cwd, room) ?? cutToWidth(gridText(summary), room);
    pane.row(`${styleText(pane.own, "●")} ${styleText("bold", name)}${styleText(TONE.quiet, `(${what})`)}`);
  };
  const toolStarted = (call: StartedCall): void => {
    calls.set(call.id, call);
    // A live pane shows a running call in its last rows, and the call with its result once it has ended.
    if (pane.live !== undefined) return;
    writeCall(call);
    open = call.id;
  };
  const toolEnded = (event: Extract<AgentEvent, { type: "tool_ended" }>): void => {
    const { id, tool, isError } = event;
    const call = calls.get(id) ?? { type: "tool_started", id, tool, summary: "" };
    calls.delete(id);
    // Each result is below its own call, even if other calls or notices came in between.
    if (open === id && pane.last() === "tool") pane.begin("tool");
    else writeCall(call);
    const text = event.display ?? event.content;
    const whole = shortSummary(call, pane.cwd, Number.POSITIVE_INFINITY);
    const title = `${gridText(tool)}(${whole ?? gridText(call.summary)})`;
    results.write(text.trim() === "" ? "(no output)" : text, title, isError);
    if (!isError && event.change !== undefined) results.change(event.change, title);
  };
  const decided = ({ tool, allowed, reason }: Extract<AgentEvent, { type: "permission_decided" }>): void => {
    const decision = `${tool} ${allowed ? "allowed when asked" : "refused"}`;
    const text = reason === undefined ? decision : `${decision}: ${reason}`;
    // An allowed call follows: they belong together.
    if (allowed) notice("✓", text, TONE.quiet, "tool");
    else notice("✗", text, TONE.quiet);
  };

  const writeCompaction = (event: CompactionEvent): void => {
    notice("↻", compactionText(event), TONE.quiet);
    if (event.type !== "compacted" || event.noSummary === undefined) return;
    notice("✗", `the removed part could not be summarised: ${event.noSummary}`, TONE.bad);
  };

  return (event) => {
    switch (event.type) {
      case "text":
        pane.text(event.text);
        break;
      case "thinking":
        pane.begin("notice");
        results.fold("Thought", event.text);
        return;
      case "text_dropped":
        if (!pane.dropText())
          notice("↻", "the connection broke: the text above is discarded", TONE.attention);
        break;
      case "message":
        pane.endParagraph();
        break;
      case "tool_started":
        toolStarted(event);
        return;
      case "tool_ended":
        toolEnded(event);
        break;
      case "permission_asked":
        // The view's `permission` shows the question, with the request's id.
        break;
      case "permission_decided":
        // Calls that a rule allowed are not shown.
        if (!event.asked && event.allowed) return;
        decided(event);
        break;
      case "hook":
        notice("·", `hook ${event.event}: ${event.text}`, TONE.quiet);
        break;
      case "throttled":
        notice("◑", throttledText(event), TONE.attention);
        break;
      case "unsaved":
        notice("✗", unsavedText(event), TONE.bad);
        break;
      case "damaged":
        notice("✗", event.text, TONE.bad);
        break;
      case "saved":
        notice("✓", "the conversation is saved; the agent continues", TONE.quiet);
        break;
      case "compacting":
      case "compacted":
      case "cleared":
        writeCompaction(event);
        break;
      case "tool_output":
      case "spent":
      case "model_called":
      case "hook_ran":
        // Facts about shown calls, for records only.
        return;
      case "subagent":
        pane.aside(() =>
          notice("·", cutToWidth(gridText(`${event.what}: ${event.action}`), pane.width() - 2), TONE.quiet),
        );
        break;
      case "turn_ended":
        pane.endParagraph();
        if (event.outcome === "interrupted") notice("■", "interrupted", TONE.attention);
        if (event.outcome === "failed") notice("✗", event.failure ?? "the turn failed", TONE.bad);
        break;
      case "turn_started":
        break;
    }
    open = undefined;
  };
}

function compactionText(event: CompactionEvent): string {
  if (event.type === "cleared") return "conversation cleared; the agent starts with an empty one";
  if (event.type === "compacted")
    return `conversation compacted: ${rounded(event.before)} → ${rounded(event.after)} tokens`;
  return event.isAsked
    ? "summarising the conversation"
    : "the context window is nearly full: summarising the oldest part of the conversation";
}

function unsavedText({ failure, hint, isLost }: Extract<AgentEvent, { type: "unsaved" }>): string {
  return isLost === true
    ? `the newest part of the conversation could not be saved, and is lost: ${failure}`
    : `the conversation cannot be saved (${failure}); the agent waits, and tries again every second. ${hint}`;
}

type CompactionEvent = Extract<AgentEvent, { type: "compacting" | "compacted" | "cleared" }>;
type StartedCall = Extract<AgentEvent, { type: "tool_started" }>;

/** Rounds a token count that is partly an estimate. */
function rounded(tokens: number): string {
  return tokens < 1_000 ? String(tokens) : `${Math.round(tokens / 1_000)}k`;
}

function throttledText({ reason, delayMs }: Extract<AgentEvent, { type: "throttled" }>): string {
  const seconds = Math.max(1, Math.round(delayMs / 1000));
  return `${reason}: next attempt in ${seconds} s`;
}
