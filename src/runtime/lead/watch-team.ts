import { messageOf, TeamError } from "../../errors.ts";
import { supervise } from "../../operations/supervision/supervise.ts";
import { permissionMode } from "../../schema/config.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import { readTeam, teamExists } from "../../team/config/config.ts";
import { readPlace, readStatus } from "../../team/records/read-records.ts";
import type { TeamRef } from "../../team/ref.ts";
import type { StatusKeeper } from "../../worker/status-record.ts";
import { modeNote } from "../../worker/view.ts";
import type { Worker } from "../../worker/worker.ts";
import { keepStatusLine } from "../status-line-file.ts";
import { taskVerifier } from "../task-verifier.ts";
import type { Lead } from "./lead.ts";

/** Returns a function that applies a changed mode of the lead. The mode comes from the team's config: no member may send one. */
function modeFollower({ ctx, view, mode }: Lead, { planApproval, permissionRequests }: Worker): () => void {
  let seen: string | undefined = mode;
  return () => {
    const wanted = modeInFile(ctx.ref);
    if (wanted === undefined || wanted === seen) return;
    seen = wanted;
    const refusal = planApproval.setMode(wanted);
    view.note(
      refusal === undefined
        ? modeNote(wanted)
        : `permission mode ${wanted} is forbidden by ${refusal}; the mode was not changed`,
    );
    permissionRequests.reconsider().catch((error: unknown) => view.error(messageOf(error)));
  };
}

function modeInFile(ref: TeamRef): PermissionMode | undefined {
  try {
    const lead = readTeam(ref).members.find(({ name }) => name === LEAD_NAME);
    return permissionMode.safeParse(lead?.mode).data;
  } catch (error) {
    // A deleted team or a broken file is reported elsewhere.
    if (error instanceof TeamError) return undefined;
    throw error;
  }
}

interface TeamWatch {
  /** Starts watching again after the lead has recreated its team. */
  restart(): Promise<void>;
  /** Applies the mode in the team's config now, without waiting until its change is noticed. */
  followMode(): void;
  end(): Promise<void>;
}

/** Supervises a lead's team apart from its model: endings, unassigned tasks, modes, requests of other processes. */
export function watchTeam(lead: Lead, worker: Worker, status: StatusKeeper): TeamWatch {
  const { ctx, view, inProcess, children } = lead;
  const line = keepStatusLine(ctx, { own: LEAD_NAME, watches: false, problem: (text) => view.error(text) });
  const followMode = modeFollower(lead, worker);
  const begin = (): (() => Promise<void>) => {
    const watching = new AbortController();
    const watched = supervise(ctx, {
      signal: watching.signal,
      // The lead gets a message about the end, which its pane shows.
      onEnd: () => undefined,
      onChange: () => {
        followMode();
        inProcess.handleEndRequests();
        worker.recheck();
        line.changed();
      },
      onProblem: (text) => view.error(text),
      verify: taskVerifier({
        ref: ctx.ref,
        env: ctx.env,
        actor: "system",
        note: (text) => view.note(text),
      }),
      servers: {
        onExit: (socket) => {
          // A server may end with the last pane of a member that was asked to end.
          if (isUnexpectedEnd(ctx.ref, socket))
            view.note(`the tmux server of the teammates' panes has ended: ${socket}`);
        },
        onWatches: (watches) => status.setServerWatches(watches),
      },
    }).catch((error: unknown) => view.error(messageOf(error)));
    return async () => {
      watching.abort();
      await watched;
    };
  };
  let end = begin();
  return {
    async restart() {
      await end();
      end = begin();
      // The bell's files went with the old team: wake its waiter, which recreates them.
      children.ring();
    },
    followMode,
    async end() {
      await end();
      await line.end();
    },
  };
}

/** Whether a member that had not agreed to end ran on this tmux server. */
function isUnexpectedEnd(ref: TeamRef, socket: string): boolean {
  if (!teamExists(ref)) return false;
  return readTeam(ref).members.some(({ name }) => {
    const ranThere = name !== LEAD_NAME && readPlace(ref, name)?.server?.socket === socket;
    return ranThere && readStatus(ref, name)?.agreedToStop !== true;
  });
}
