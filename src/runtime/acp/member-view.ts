import type { AgentEvent } from "../../agent/events.ts";
import { toolUsesOf } from "../../agent/model/messages.ts";
import { newUuid } from "../../os/process/identity.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import { cutText } from "../../text/characters/cut-text.ts";
import { controlStripper } from "../../text/terminal-text.ts";
import type { WorkerView } from "../../worker/view.ts";
import type { ShowFact } from "./facts.ts";
import { MAX_RECEIVED } from "./limits.ts";

/** Reports of the lead's view besides facts. */
export interface LeadReports {
  /** A line of the user began a turn, now or in a replayed conversation. A replayed line has no key. */
  typed(line: string, key?: string): void;
  event(event: AgentEvent): void;
}

const CHANGES: ReadonlySet<string> = new Set(["Edit", "Write"]);

/** Shows the tool calls of a member. Ids of calls are unique only within a conversation, so the member's name is added to them. */
function callReporter(member: string, show: ShowFact): (event: AgentEvent) => void {
  const inputs = new Map<string, unknown>();
  const idOf = (id: string): string => `${member}/${id}`;
  return (event) => {
    switch (event.type) {
      case "message":
        for (const { id, input } of toolUsesOf(event.message)) inputs.set(id, input);
        return;
      case "tool_started": {
        const { id, tool, summary, path } = event;
        show({ kind: "call", id: idOf(id), member, tool, summary, path, input: inputs.get(id) });
        return;
      }
      case "tool_output":
        show({ kind: "output", id: idOf(event.id), tail: event.tail });
        return;
      case "tool_ended": {
        const { id, tool, content, display, isError } = event;
        inputs.delete(id);
        const isChange = CHANGES.has(tool) && !isError;
        show({ kind: "result", id: idOf(id), content: display ?? content, isError, isChange });
        return;
      }
      case "turn_ended":
        inputs.clear();
        return;
      default:
        return;
    }
  };
}

/** A view of a teammate: only its tool calls concern the user of the lead. */
export function teammateView(member: string, show: ShowFact): WorkerView {
  return { ...NOTHING, event: callReporter(member, show) };
}

/** A view that shows the lead to its client. */
export function leadView(member: string, show: ShowFact, reports: LeadReports): WorkerView {
  const reportCall = callReporter(member, show);
  const strip = controlStripper();
  let message = newUuid();
  let shownMode: PermissionMode | undefined;
  const note = (severity: "info" | "warning" | "error") => (text: string) =>
    show({ kind: "notice", severity, text });
  return {
    ...NOTHING,
    event(event) {
      reportCall(event);
      if (event.type === "text") show({ kind: "text", text: strip.push(event.text), message });
      // A client cannot remove text that it has shown.
      if (event.type === "text_dropped") show({ kind: "text", text: "\n\n", message });
      if (event.type === "message") message = newUuid();
      if (event.type === "thinking") show({ kind: "thought", text: event.text });
      if (event.type === "subagent") show({ kind: "thought", text: `${event.what}: ${event.action}\n` });
      if (event.type === "throttled") note("info")(`the model's server is busy: ${event.reason}`);
      if (event.type === "unsaved")
        note("error")(`the conversation cannot be saved: ${event.failure} ${event.hint}`);
      if (event.type === "damaged") note("error")(event.text);
      if (event.type === "hook") note("warning")(`${event.event}: ${event.text}`);
      reports.event(event);
    },
    received(from, text) {
      show({ kind: "thought", text: `Message from ${from}: ${cutText(text, MAX_RECEIVED)}\n` });
    },
    typed: reports.typed,
    // A request with an id is offered to the client as such.
    waiting(reason, _by, request) {
      if (request === undefined) note("warning")(reason);
    },
    mode(mode) {
      if (mode !== shownMode) show({ kind: "mode", mode });
      shownMode = mode;
    },
    note: note("info"),
    error: note("error"),
  };
}

const nothing = (): void => undefined;

const NOTHING: WorkerView = {
  event: nothing,
  received: nothing,
  queued: nothing,
  saving: () => nothing,
  typed: nothing,
  idle: nothing,
  waiting: nothing,
  // The client gets the whole request.
  permission: () => true,
  permissionClosed: nothing,
  mode: nothing,
  note: nothing,
  error: nothing,
};
