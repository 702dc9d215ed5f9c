import { messageOf } from "../errors.ts";
import { LEAD_NAME } from "../schema/names.ts";
import type { WorkerView } from "../worker/view.ts";

/** Calls a person who looks elsewhere. */
export interface Notifier {
  /**
   * @param whom `lead` for what a lead's side looks at first: where one runs, it calls for what it leaves open
   * @throws TeamError TEAM_NOT_FOUND
   */
  tell(what: string, whom: "lead" | "person"): void;
  /** Ends what still runs. */
  close(): void;
}

/**
 * The view of an agent that also calls a person when one is waited for.
 * @param open called at the first need, since few settings name a command
 */
export function notifying<V extends WorkerView>(view: V, name: string, open: () => Promise<Notifier>): V {
  let opened: Promise<Notifier> | undefined;
  const tell = (what: string, whom: "lead" | "person"): void => {
    opened ??= open();
    opened
      .then((notifier) => notifier.tell(what, whom))
      .catch((error: unknown) => view.error(messageOf(error)));
  };
  return {
    ...view,
    waiting(what, whom = "person") {
      view.waiting(what, whom);
      // What a lead shows is about whoever it names.
      tell(name === LEAD_NAME ? what : `${name}: ${what}`, whom);
    },
    permission(ask) {
      view.permission(ask);
      tell(`${name} asks: ${ask.tool}(${ask.summary})`, "lead");
    },
  };
}
