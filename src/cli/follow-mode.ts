import { messageOf, TeamError } from "../errors.ts";
import { permissionMode } from "../schema/config.ts";
import { LEAD_NAME } from "../schema/names.ts";
import type { PermissionMode } from "../schema/permission-modes.ts";
import { readTeam } from "../team/config.ts";
import type { TeamRef } from "../team/ref.ts";
import type { Worker } from "../worker/worker.ts";
import type { Lead } from "./lead.ts";

/** Whoever changes the lead's own mode does so in the team's file: nobody may send it a message about that. */
export function modeFollower({ ctx, view, mode }: Lead, { plan, desk }: Worker): () => void {
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
