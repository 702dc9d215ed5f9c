import { messageOf } from "../errors.ts";
import { supervise } from "../lead/supervise.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { isThere, readTeam } from "../team/config.ts";
import { readPlace, readStatus } from "../team/records.ts";
import type { TeamRef } from "../team/ref.ts";
import type { StatusKeeper } from "../worker/status-keeper.ts";
import type { Worker } from "../worker/worker.ts";
import { modeFollower } from "./follow-mode.ts";
import type { Lead } from "./lead.ts";

export interface TeamWatch {
  /** Another team stands in the place of the one that was watched. */
  again(): Promise<void>;
  end(): Promise<void>;
}

/** Sees to what happens in a lead's team beside its model: ends, freed tasks, modes, wishes of other processes. */
export function watchTeam(lead: Lead, worker: Worker, status: StatusKeeper): TeamWatch {
  const { ctx, view, inside, children } = lead;
  const followMode = modeFollower(lead, worker);
  const begin = (): (() => Promise<void>) => {
    const watching = new AbortController();
    const watched = supervise(ctx, {
      signal: watching.signal,
      // The news comes to the lead as a message, which its pane shows.
      onEnd: () => undefined,
      onChange: () => {
        followMode();
        inside.lookForWishes();
        worker.lookAgain();
      },
      onProblem: (text) => view.error(text),
      servers: {
        onEnd: (socket) => {
          // The last pane of one that was asked to end may take its server with it.
          if (isMissed(ctx.ref, socket))
            view.note(`the tmux server of the teammates' panes has ended: ${socket}`);
        },
        onWatches: (watches) => status.watches(watches),
      },
    }).catch((error: unknown) => view.error(messageOf(error)));
    return async () => {
      watching.abort();
      await watched;
    };
  };
  let end = begin();
  return {
    async again() {
      await end();
      end = begin();
      // The bell went with the old team's files: whoever waits for it makes its own anew.
      children.ring();
    },
    end: () => end(),
  };
}

/** Whether a member lived on that server that had not agreed to end. */
function isMissed(ref: TeamRef, socket: string): boolean {
  if (!isThere(ref)) return false;
  return readTeam(ref).members.some(({ name }) => {
    const livedThere = name !== LEAD_NAME && readPlace(ref, name)?.server?.socket === socket;
    return livedThere && readStatus(ref, name)?.agreedToStop !== true;
  });
}
