import { messageOf } from "../errors.ts";
import { LEAD_NAME } from "../schema/names.ts";
import type { WorkerView } from "../worker/view.ts";

/** Notifies the user when they are away from the pane. */
export interface Notifier {
  /**
   * @param by who answers. `lead`: a running lead answers first, and notifies the user of what it leaves open.
   * @throws TeamError TEAM_NOT_FOUND
   */
  notify(reason: string, by: "lead" | "person"): void;
  /** Ends a running command, and drops queued notifications. */
  close(): void;
}

/**
 * Returns a view that also notifies the user when the agent waits for an answer.
 * @param open called at the first notification, since few settings name a command
 */
export function withNotifications<V extends WorkerView>(
  view: V,
  name: string,
  open: () => Promise<Notifier>,
): V {
  let opened: Promise<Notifier> | undefined;
  const notify = (reason: string, by: "lead" | "person"): void => {
    opened ??= open();
    opened
      .then((notifier) => notifier.notify(reason, by))
      .catch((error: unknown) => view.error(messageOf(error)));
  };
  return {
    ...view,
    waiting(reason, by = "person") {
      view.waiting(reason, by);
      // A lead's reason names the member already.
      notify(name === LEAD_NAME ? reason : `${name}: ${reason}`, by);
    },
    permission(ask) {
      view.permission(ask);
      notify(`${name} asks: ${ask.tool}(${ask.summary})`, "lead");
    },
  };
}
