import type { AgentEvent } from "../agent/events.ts";
import { cutToWidth, displayWidth } from "../text/cell-width.ts";
import { TONE } from "../text/style.ts";
import { gridText } from "../text/terminal-text.ts";
import { excerpt, type PaneWriter } from "./pane-writer.ts";

/** Columns around a call's name: its sign, the parentheses, and a minimum for its summary. */
const AROUND_A_NAME = 14;

/** Returns a function that writes the events of a turn as they happen. */
export function eventWriter(pane: PaneWriter): (event: AgentEvent) => void {
  const { styleText, notice } = pane;
  /** The call whose result would be directly below it. */
  let open: string | undefined;

  const toolStarted = ({ id, tool, summary }: Extract<AgentEvent, { type: "tool_started" }>): void => {
    pane.begin("tool");
    const name = cutToWidth(gridText(tool), pane.width() - AROUND_A_NAME);
    const what = cutToWidth(gridText(summary), pane.width() - 5 - displayWidth(name));
    pane.row(`${styleText(pane.own, "●")} ${styleText("bold", name)}${styleText(TONE.quiet, `(${what})`)}`);
    open = id;
  };
  const toolEnded = (event: Extract<AgentEvent, { type: "tool_ended" }>): void => {
    const { id, tool, isError } = event;
    const text = event.display ?? event.content;
    pane.begin("tool");
    const shown = text.trim() === "" ? "(no output)" : text;
    // Below another call, the result begins with the name of its tool.
    const rows = excerpt(open === id ? shown : `${gridText(tool)}: ${shown.trimStart()}`, pane.resultRows);
    for (const [i, row] of rows.entries()) {
      const line = `${i === 0 ? "  ⎿ " : "    "}${cutToWidth(row, pane.width() - 5)}`;
      pane.row(styleText(isError ? TONE.bad : TONE.quiet, line));
    }
  };
  const decided = ({ tool, allowed, reason }: Extract<AgentEvent, { type: "permission_decided" }>): void => {
    const decision = `${tool} ${allowed ? "allowed when asked" : "refused"}`;
    notice(allowed ? "✓" : "✗", reason === undefined ? decision : `${decision}: ${reason}`, TONE.quiet);
  };

  return (event) => {
    switch (event.type) {
      case "text":
        pane.text(event.text);
        break;
      case "text_dropped":
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
      case "compacting":
        notice(
          "↻",
          "the context window is nearly full: summarising the oldest part of the conversation",
          TONE.quiet,
        );
        break;
      case "compacted":
        notice(
          "↻",
          `conversation compacted: ${rounded(event.before)} → ${rounded(event.after)} tokens`,
          TONE.quiet,
        );
        if (event.noSummary !== undefined) {
          notice("✗", `the removed part could not be summarised: ${event.noSummary}`, TONE.bad);
        }
        break;
      case "spent":
      case "model_called":
      case "hook_ran":
        // Facts about shown calls, for records only.
        return;
      case "subagent":
        pane.aside(() =>
          notice("·", cutToWidth(gridText(`${event.what}: ${event.doing}`), pane.width() - 2), TONE.quiet),
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

/** Rounds a token count that is partly an estimate. */
function rounded(tokens: number): string {
  return tokens < 1_000 ? String(tokens) : `${Math.round(tokens / 1_000)}k`;
}

function throttledText({ reason, delayMs }: Extract<AgentEvent, { type: "throttled" }>): string {
  const seconds = Math.max(1, Math.round(delayMs / 1000));
  return `${reason}: next try in ${seconds} s`;
}
