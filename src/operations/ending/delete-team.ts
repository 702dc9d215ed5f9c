import { TeamError } from "../../errors.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam, removeTeamFiles } from "../../team/config/config.ts";
import { unfinishedEndings } from "../../team/members/ending-claims.ts";
import { readPlace } from "../../team/records/read-records.ts";
import { operand, optionWords } from "../../text/shell-quote.ts";
import { type OperationContext, requireLead } from "../context.ts";
import { endDeadLeadCommands, endDeadLeadWatches } from "../processes/dead-lead.ts";
import { endProcesses } from "../processes/end-processes.ts";
import { cleanUpTeamWorktrees, type WorktreeEnd } from "../worktrees/remove-worktree.ts";
import { isAlive, isRemote, killAllTeammates } from "./kill.ts";
import { awaitEndingDone, closePlace } from "./process-ending.ts";

export interface DeleteOptions {
  /** Ends living members first instead of refusing. */
  readonly force?: boolean;
  /** Called when nothing stands in the way any more and nobody was ended yet; what it throws ends the deletion. */
  readonly backup?: () => Promise<void>;
  /** Worktrees that were seen to just now, by whoever ended the members. */
  readonly worktrees?: readonly WorktreeEnd[];
}

/**
 * Removes a team: its files, tasks, FIFOs, what is left of its panes, and the worktrees in which nothing is unsaved.
 * @returns what became of its worktrees; those that stay are the caller's to name
 * @throws TeamError ACTIVE_MEMBERS while a member's process lives, NOT_LEAD, TEAM_NOT_FOUND; nothing was removed then
 */
export async function deleteTeam(
  ctx: OperationContext,
  options: DeleteOptions = {},
): Promise<readonly WorktreeEnd[]> {
  requireLead(ctx, "delete the team");
  const members = teammatesIn(ctx);
  const active = activeOf(ctx, members);
  if (!options.force) requireEnded(ctx);
  await options.backup?.();
  const killed = active.length > 0 ? await killAllTeammates(ctx, { force: true }) : [];
  // Whoever sees to the end of a former member has its pane to close yet.
  for (const { name } of unfinishedEndings(readTeam(ctx.ref))) await awaitEndingDone(ctx, name);
  for (const name of members) {
    const place = readPlace(ctx.ref, name);
    if (place === undefined) continue;
    await endProcesses(ctx, name);
    await closePlace(ctx, place);
  }
  const worktrees = await cleanUpTeamWorktrees(ctx, [
    ...(options.worktrees ?? []),
    ...killed.flatMap(({ worktree }) => worktree ?? []),
  ]);
  await endDeadLeadCommands(ctx);
  await endDeadLeadWatches(ctx);
  await removeTeamFiles(ctx.ref);
  return worktrees;
}

/** @throws TeamError ACTIVE_MEMBERS while a member's process lives */
export function requireEnded(ctx: OperationContext): void {
  const active = activeOf(ctx, teammatesIn(ctx));
  if (active.length === 0) return;
  throw new TeamError(
    "ACTIVE_MEMBERS",
    `${active.join(", ")} still ${active.length > 1 ? "run" : "runs"}; nothing was deleted.`,
    {
      hint: `Shut them down first: teams shutdown --all ${optionWords("--team", ctx.ref.team)}; or end them: teams delete --force ${operand(ctx.ref.team)}`,
      details: { active },
    },
  );
}

function teammatesIn({ ref }: OperationContext): string[] {
  return readTeam(ref).members.flatMap(({ name }) => (name === LEAD_NAME ? [] : [name]));
}

function activeOf(ctx: OperationContext, members: readonly string[]): string[] {
  return members.filter((name) => isAlive(ctx, name) || isRemote(ctx, name));
}
