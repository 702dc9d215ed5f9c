import { messageOf, TeamError } from "../../errors.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam, teamExists } from "../../team/config/config.ts";
import { removeTeamFiles } from "../../team/config/delete-files.ts";
import { unfinishedEndings } from "../../team/members/ending-claims.ts";
import { readPlace } from "../../team/records/read-records.ts";
import { removeSessionEnvs } from "../../team/records/session-env.ts";
import { operand, optionWords } from "../../text/shell-quote.ts";
import { type OperationContext, requireLead } from "../context.ts";
import { endDeadLeadCommands, endDeadLeadWatches } from "../processes/dead-lead.ts";
import { endProcesses } from "../processes/end-processes.ts";
import { liveForeignMembers } from "../processes/foreign-facts.ts";
import { cleanUpTeamWorktrees, type WorktreeEnd } from "../worktrees/remove-worktree.ts";
import { isAlive, isRemote, killAllTeammates } from "./kill.ts";
import { awaitEndingDone, closePlace } from "./process-ending.ts";

export interface DeleteOptions {
  /** Ends running members first instead of failing. */
  readonly force?: boolean;
  /** Runs after all checks and before any member is ended; an error from it cancels the deletion. */
  readonly backup?: () => Promise<void>;
  /** Runs under the config's lock right before the files are removed, after panes and clean worktrees; an error from it keeps the files. */
  readonly beforeRemoval?: (config: TeamConfig) => void;
  /** Reports a failure that need not prevent the deletion; without this function, the failure prevents it. */
  readonly problem?: ((text: string) => void) | undefined;
  /** Worktrees that the caller has just handled when it ended the members. */
  readonly worktrees?: readonly WorktreeEnd[];
  /** Cancels the deletion until it begins to remove panes and files. */
  readonly signal?: AbortSignal;
}

/**
 * Removes a team: its files, tasks, FIFOs, remaining panes, and worktrees without unsaved changes.
 * @returns its worktrees, removed or kept; the caller reports the kept ones
 * @throws TeamError ACTIVE_MEMBERS while a member's process lives, NOT_LEAD, TEAM_NOT_FOUND; then nothing was removed. INTERRUPTED, or
 * ACTIVE_MEMBERS for a member that was started meanwhile; then the team's files are still there. These and later errors name the members
 * that were ended before.
 */
export async function deleteTeam(
  ctx: OperationContext,
  options: DeleteOptions = {},
): Promise<readonly WorktreeEnd[]> {
  requireLead(ctx, "delete the team");
  if (!options.force) await requireEnded(ctx);
  await options.backup?.();
  refuseAborted(ctx, options, "nothing was changed.");
  // A member may have been started during the backup.
  const members = teammatesIn(ctx);
  const active = await activeOf(ctx, members);
  if (!options.force && active.length > 0) throw stillActive(ctx, active);
  const alive = members.filter((name) => isAlive(ctx, name));
  try {
    return await endAndRemove(ctx, members, active.length > 0, options);
  } catch (error) {
    throw withEnded(ctx, error, alive);
  }
}

async function endAndRemove(
  ctx: OperationContext,
  members: readonly string[],
  isActive: boolean,
  options: DeleteOptions,
): Promise<readonly WorktreeEnd[]> {
  const { beforeRemoval, problem = preventDeletion, worktrees: handled = [], signal } = options;
  const killed = isActive ? await killAllTeammates(ctx, { force: true }) : [];
  // Another process may still handle a former member's ending and have to close its pane.
  for (const { name } of unfinishedEndings(readTeam(ctx.ref))) await awaitEndingDone(ctx, name, signal);
  const kept = "the team and its files are kept. Clean worktrees of ended members may be gone.";
  refuseAborted(ctx, options, kept);
  requireNoneStarted(ctx, kept);
  for (const name of members) {
    const place = readPlace(ctx.ref, name);
    // Also without a place: a start that was cut off has recorded none.
    await endProcesses(ctx, name);
    if (place !== undefined) await closePlace(ctx, place);
  }
  const worktrees = await cleanUpTeamWorktrees(ctx, [
    ...handled,
    ...killed.flatMap(({ worktree }) => worktree ?? []),
  ]);
  await endDeadLeadCommands(ctx);
  await endDeadLeadWatches(ctx);
  await listAsEnded(ctx, problem);
  await removeTeamFiles(ctx.ref, () => {
    requireNoneStarted(ctx, kept);
    const config = readTeam(ctx.ref);
    beforeRemoval?.(config);
    removeSessionEnvs(ctx.ref, config, problem);
  });
  return worktrees;
}

/** @throws TeamError INTERRUPTED, with the state of the team, if the signal has aborted */
function refuseAborted({ ref }: OperationContext, { signal, force }: DeleteOptions, state: string): void {
  if (signal?.aborted !== true) return;
  throw new TeamError("INTERRUPTED", `The deletion was interrupted: ${state}`, {
    hint: `Run it again: teams delete ${force ? "--force " : ""}${operand(ref.team)}`,
  });
}

/**
 * @param state of the team, as the end of a sentence
 * @throws TeamError ACTIVE_MEMBERS if a member was started after the others had ended
 */
function requireNoneStarted(ctx: OperationContext, state: string): void {
  const active = teammatesIn(ctx).filter((name) => isAlive(ctx, name));
  if (active.length === 0) return;
  const was = active.length > 1 ? "were" : "was";
  throw new TeamError("ACTIVE_MEMBERS", `${active.join(", ")} ${was} started meanwhile: ${state}`, {
    hint: `To end all members and delete the team: teams delete --force ${operand(ctx.ref.team)}`,
    details: { active },
  });
}

/** Adds to the error of a deletion the members that it has ended. Unchanged if it ended none, or if the team is gone. */
function withEnded(ctx: OperationContext, error: unknown, alive: readonly string[]): unknown {
  const ended = alive.filter((name) => !isAlive(ctx, name));
  if (!(error instanceof TeamError) || ended.length === 0 || !teamExists(ctx.ref)) return error;
  const { code, message, hint, details } = error;
  return new TeamError(
    code,
    `${message} Ended before that: ${ended.join(", ")}. The team was not deleted.`,
    defined({ hint, details: { ...details, ended }, cause: error }),
  );
}

function preventDeletion(text: string): never {
  throw new Error(text);
}

/** Adds the team to the index of ended teams, so that its conversations are found when its files are gone. */
async function listAsEnded(
  { home, ref, clock }: OperationContext,
  problem: (text: string) => void,
): Promise<void> {
  const { endedTeamOf, recordEndedTeam } = await import("../../team/records/ended-teams.ts");
  try {
    await recordEndedTeam(home, endedTeamOf(ref, readTeam(ref), clock.now()));
  } catch (error) {
    problem(`teams ls --ended will not list ${ref.team}: ${messageOf(error)}`);
  }
}

/** @throws TeamError ACTIVE_MEMBERS while a member's process lives */
export async function requireEnded(ctx: OperationContext): Promise<void> {
  const active = await activeOf(ctx, teammatesIn(ctx));
  if (active.length > 0) throw stillActive(ctx, active);
}

function stillActive({ ref }: OperationContext, active: readonly string[]): TeamError {
  return new TeamError(
    "ACTIVE_MEMBERS",
    `${active.join(", ")} still ${active.length > 1 ? "run" : "runs"}; nothing was deleted.`,
    {
      hint: `Shut them down first: teams shutdown --all ${optionWords("--team", ref.team)}. Or end them and delete the team: teams delete --force ${operand(ref.team)}`,
      details: { active },
    },
  );
}

function teammatesIn({ ref }: OperationContext): string[] {
  return readTeam(ref).members.flatMap(({ name }) => (name === LEAD_NAME ? [] : [name]));
}

async function activeOf(ctx: OperationContext, members: readonly string[]): Promise<string[]> {
  const foreign = await liveForeignMembers(ctx, readTeam(ctx.ref));
  return members.filter((name) => foreign.has(name) || isAlive(ctx, name) || isRemote(ctx, name));
}
