import { messageOf, TeamError } from "../../errors.ts";
import { supervise } from "../../operations/supervision/supervise.ts";
import { permissionMode } from "../../schema/config.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import { readTeam, teamExists } from "../../team/config/config.ts";
import { readPlace, readStatus } from "../../team/records/read-records.ts";
import type { TeamRef } from "../../team/ref.ts";
import type { StatusKeeper } from "../../worker/status-record.ts";
import type { Worker } from "../../worker/worker.ts";
import type { Lead } from "./lead.ts";

/** Whoever changes the lead's own mode does so in the team's file: nobody may send it a message about that. */
function modeFollower({ ctx, view, mode }: Lead, { plan, desk }: Worker): () => void {
  let seen: string | undefined = mode;
  return () => {
    const wanted = modeInFile(ctx.ref);
    if (wanted === undefined || wanted === seen) return;
    seen = wanted;
    const why = plan.setMode(wanted);
    view.note(
      `permission mode ${why === undefined ? "is now" : `is forbidden by ${why}, and not`} ${wanted}`,
    );
    desk.reconsider().catch((error: unknown) => view.error(messageOf(error)));
  };
}

function modeInFile(ref: TeamRef): PermissionMode | undefined {
  try {
    const lead = readTeam(ref).members.find(({ name }) => name === LEAD_NAME);
    return permissionMode.safeParse(lead?.mode).data;
  } catch (error) {
    // Its end, or what is wrong with its file, is told by whoever has to do with that.
    if (error instanceof TeamError) return undefined;
    throw error;
  }
}

interface TeamWatch {
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
  if (!teamExists(ref)) return false;
  return readTeam(ref).members.some(({ name }) => {
    const livedThere = name !== LEAD_NAME && readPlace(ref, name)?.server?.socket === socket;
    return livedThere && readStatus(ref, name)?.agreedToStop !== true;
  });
}
