import { TeamError } from "../../errors.ts";
import { removeTree } from "../../os/files/fs.ts";
import { ownIdentity } from "../../os/process/identity.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam } from "../../team/config/config.ts";
import type { OperationContext } from "../context.ts";
import { deleteTeam } from "../ending/delete-team.ts";
import { type KillReport, killTeammates } from "../ending/kill.ts";

interface EndRunOptions {
  /** Milliseconds for the asking; then signals. */
  readonly timeoutMs: number;
  /** The files stay, so that the team can be looked at or taken up again. */
  readonly keep?: boolean;
}

/**
 * The end of a run: whoever still lives is asked, then ended, and the team is deleted. A team that its lead has deleted
 * before is no failure, and one that somebody else has made in its place is theirs.
 */
export async function endRun(ctx: OperationContext, options: EndRunOptions): Promise<readonly KillReport[]> {
  const config = teamLedHere(ctx);
  if (config === undefined) return [];
  const names = config.members.flatMap(({ name }) => (name === LEAD_NAME ? [] : [name]));
  const reports = await killTeammates(ctx, names, { timeoutMs: options.timeoutMs });
  if (teamLedHere(ctx) === undefined) return reports;
  const worktrees = reports.flatMap(({ worktree }) => worktree ?? []);
  if (!options.keep) await deleteTeam(ctx, { force: true, worktrees });
  // Its bell rings for nobody any more.
  else removeTree(ctx.ref.paths.agent(LEAD_NAME).runtime);
  return reports;
}

/** The team, as long as this process leads it. */
function teamLedHere({ ref }: OperationContext): TeamConfig | undefined {
  try {
    const config = readTeam(ref);
    const own = ownIdentity();
    const { pid, procStart } = config.leadProcess ?? {};
    return pid === own.pid && procStart === own.procStart ? config : undefined;
  } catch (error) {
    if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") return undefined;
    throw error;
  }
}
