import * as z from "zod/mini";
import { TeamError } from "../errors.ts";
import type { LeadContext } from "../lead/context.ts";
import { deleteTeam } from "../lead/delete-team.ts";
import type { WorktreeEnd } from "../lead/worktree-end.ts";
import { answer, refusing, TEAM_ACCESS, type TeamTool } from "./context.ts";

const input = z.object({});

export const teamDelete: TeamTool = ({ ctx }) => ({
  name: "TeamDelete",
  description:
    "Deletes the team with its tasks and messages, and its worktrees in which nothing is unsaved. Refused while a teammate still runs: shut all of them down first.",
  input,
  access: () => TEAM_ACCESS,
  summary: () => "",
  execute: () =>
    refusing(async () => {
      const worktrees = await deleted(ctx);
      const kept = worktrees.flatMap(({ path, kept: why }) => (why === null ? [] : [`${path} (${why})`]));
      const deletion = `The team ${ctx.ref.team} is deleted.`;
      if (kept.length === 0) return answer({ success: true, message: deletion });
      const message = `${deletion} These worktrees stay, since work in them would be lost: ${kept.join("; ")}.`;
      return answer({ success: true, message, worktrees });
    }),
});

/** Without a team it succeeds (protocol.md section 8). */
async function deleted(ctx: LeadContext): Promise<readonly WorktreeEnd[]> {
  try {
    return await deleteTeam(ctx);
  } catch (error) {
    if (!(error instanceof TeamError && error.code === "TEAM_NOT_FOUND")) throw error;
    return [];
  }
}
