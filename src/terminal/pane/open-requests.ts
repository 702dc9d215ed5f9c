import type { AgentEvent } from "../../agent/events.ts";
import { after } from "../../os/clock.ts";
import { TONE } from "../../text/style.ts";
import { type PermissionPrompt, REQUEST_GUARD_MS } from "../../worker/view.ts";
import type { LiveRegion } from "../live/live-region.ts";
import type { Activity } from "./activity.ts";
import type { PaneWriter } from "./pane-writer.ts";
import { explanation, type ShownPermission, showPermission } from "./permission-prompt.ts";

interface OpenRequestsOptions {
  readonly pane: PaneWriter;
  readonly region: Pick<LiveRegion, "question"> | undefined;
  readonly activity: Pick<Activity, "ask"> | undefined;
  /** The agent. */
  readonly name: string;
  readonly readOnly: boolean;
}

/**
 * The permission requests of a pane, one at a time. A live pane shows the open one in its last rows. Once it is answered,
 * an allowed call appears with its result, so the request leaves no rows. A refused request is written, and so is one of
 * a subagent, whose results are not shown.
 */
export interface OpenRequests {
  /** @returns whether the request is shown completely */
  show(ask: PermissionPrompt): boolean;
  /** Shows the open request again, after the terminal was cleared. */
  showAgain(): void;
  /** The open request has its answer. */
  close(): void;
  /** Writes the request that an event decides, unless its call follows. @returns the event, without a reason that the request has shown */
  decided(event: AgentEvent): AgentEvent;
  /** Returns the id of the open request if this key, pressed now, answers it. */
  answers(char: string): string | undefined;
  /** Shows more about the open request. */
  explain(): void;
}

/** A request that was shown. */
interface Shown {
  readonly ask: PermissionPrompt;
  readonly view: ShownPermission;
  /** Whether its rows are in the output, not only in the last rows. */
  isWritten: boolean;
}

export function openRequests({ pane, region, activity, name, readOnly }: OpenRequestsOptions): OpenRequests {
  let open: Shown | undefined;
  /** The keys that answer it now. */
  let keys: readonly string[] = [];
  let cancelKeys = (): void => undefined;
  /** Requests that have an answer, whose call is not decided yet. */
  let answered: readonly Shown[] = [];

  const write = (shown: Shown): void => {
    if (shown.isWritten) return;
    shown.isWritten = true;
    pane.begin("notice");
    for (const row of shown.view.rows()) pane.row(row);
  };
  const showLive = (shown: Shown): void => {
    if (region === undefined) return;
    shown.isWritten = false;
    region.question({ rows: shown.view.rows, write: () => write(shown) });
  };
  const close = (): void => {
    cancelKeys();
    if (open !== undefined) {
      answered = [...answered, open];
      region?.question(undefined);
    }
    open = undefined;
    keys = [];
    activity?.ask(undefined);
  };
  return {
    show(ask) {
      // The same request again is now whole.
      if (open?.ask.id === ask.id) open = undefined;
      close();
      const view = showPermission(pane, ask, readOnly);
      open = { ask, view, isWritten: region === undefined };
      showLive(open);
      // Only now can a key be meant for this request.
      cancelKeys = after(REQUEST_GUARD_MS, () => {
        ({ keys } = view);
        activity?.ask(view.keysRow);
        if (pane.isHosted) pane.row(`  ${view.keysRow}`);
      });
      return view.isAll;
    },
    showAgain() {
      if (open?.isWritten === true) showLive(open);
    },
    close,
    decided(event) {
      if (event.type === "turn_ended") answered = [];
      if (event.type !== "permission_decided" || !event.asked) return event;
      // A call may need several requests: the decision belongs to the last one.
      const shown = answered.findLast(({ ask }) => ask.call === event.id);
      if (shown === undefined) return event;
      answered = answered.filter(({ ask }) => ask.call !== event.id);
      if (event.allowed && shown.ask.subagent === undefined) return event;
      write(shown);
      const { reason, ...rest } = event;
      return reason === shown.ask.reason ? rest : event;
    },
    answers: (char) => (keys.includes(char) ? open?.ask.id : undefined),
    explain() {
      if (open !== undefined) pane.wholeNotice("?", explanation(open.ask, pane, name), TONE.quiet);
    },
  };
}
