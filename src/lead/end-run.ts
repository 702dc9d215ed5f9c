import { TeamError } from "../errors.ts";
import { removeTree } from "../os/fs.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { readTeam } from "../team/config.ts";
import type { LeadContext } from "./context.ts";
import { deleteTeam } from "./delete-team.ts";
import { type KillReport, killTeammates } from "./kill.ts";

export interface EndRunOptions {
  /** Milliseconds for the asking; then signals. */
  readonly timeoutMs: number;
  /** The files stay, so that the team can be looked at or taken up again. */
  readonly keep?: boolean;
}

/**
 * The end of a run: whoever still lives is asked, then ended, and the team is deleted. A team that its lead has deleted
 * before is no failure.
 */
export async function endRun(ctx: LeadContext, options: EndRunOptions): Promise<readonly KillReport[]> {
  let names: string[];
  try {
    names = readTeam(ctx.ref).members.map((member) => member.name);
  } catch (error) {
    if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") return [];
    throw error;
  }
  const reports = await killTeammates(
    ctx,
    names.filter((name) => name !== LEAD_NAME),
    { timeoutMs: options.timeoutMs },
  );
  const worktrees = reports.flatMap(({ worktree }) => worktree ?? []);
  if (!options.keep) await deleteTeam(ctx, { force: true, worktrees });
  // Its bell rings for nobody any more.
  else removeTree(ctx.ref.paths.agent(LEAD_NAME).runtime);
  return reports;
}
