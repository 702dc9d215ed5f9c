import { messageOf } from "../../errors.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { WorkerView } from "../../worker/view.ts";

/** Notifies the user when they are away from the pane. */
export interface Notifier {
  /**
   * @param by who answers. `lead`: a running lead answers first, and notifies the user of requests that it leaves open.
   * @param request the id of the request that waits, if there is one
   * @throws TeamError TEAM_NOT_FOUND
   */
  notify(reason: string, by: "lead" | "person", request?: string): void;
  /** Ends a running program, and drops queued notifications. */
  close(): Promise<void>;
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
  const notify = (reason: string, by: "lead" | "person", request?: string): void => {
    opened ??= open();
    opened
      .then((notifier) => notifier.notify(reason, by, request))
      .catch((error: unknown) => view.error(messageOf(error)));
  };
  return {
    ...view,
    waiting(reason, by = "person", request) {
      view.waiting(reason, by, request);
      // A lead's reason names the member, and some of a member do.
      const isNamed = name === LEAD_NAME || reason.startsWith(`${name} `);
      const before = reason.startsWith("asks: ") ? `${name} ` : `${name}: `;
      notify(isNamed ? reason : `${before}${reason}`, by, request);
    },
    permission(ask) {
      const isAll = view.permission(ask);
      if (ask.whole !== true) notify(`${name} asks: ${ask.tool}(${ask.summary})`, "lead", ask.id);
      return isAll;
    },
  };
}
