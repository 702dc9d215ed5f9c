import { removeTree } from "../../os/files/fs.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { OperationContext } from "../context.ts";
import { deleteTeam } from "../ending/delete-team.ts";
import { type KillReport, killTeammates } from "../ending/kill.ts";
import { teamLedHere } from "./led-here.ts";

interface EndRunOptions {
  /** Milliseconds to wait for agreed shutdowns before signals are sent. */
  readonly timeoutMs: number;
  /** Keeps the files, so that the team can be inspected or resumed. */
  readonly keep?: boolean;
}

/**
 * Ends a run for good: ends the members that still run (asks first), then deletes the team. Does nothing if the lead has already
 * deleted the team, or if another process has created a new team with the name.
 */
export async function endRun(ctx: OperationContext, options: EndRunOptions): Promise<readonly KillReport[]> {
  const config = teamLedHere(ctx);
  if (config === undefined) return [];
  const names = config.members.flatMap(({ name }) => (name === LEAD_NAME ? [] : [name]));
  const reports = await killTeammates(ctx, names, { timeoutMs: options.timeoutMs });
  if (teamLedHere(ctx) === undefined) return reports;
  const worktrees = reports.flatMap(({ worktree }) => worktree ?? []);
  if (!options.keep) await deleteTeam(ctx, { force: true, worktrees });
  // No process reads the lead's bell any more.
  else removeTree(ctx.ref.paths.agent(LEAD_NAME).runtime);
  return reports;
}
