import { livenessOf } from "../../os/process/identity.ts";
import type { TeamMember } from "../../schema/config.ts";
import { worktreeOf } from "../../schema/member-metadata.ts";
import type { WorktreeRecord } from "../../schema/worktree.ts";
import { readTeam } from "../../team/config/config.ts";
import { spentBy, withSpentOf } from "../../team/members/budget.ts";
import { claimEnding } from "../../team/members/ending-claims.ts";
import { lookUpMember, moveToFormer } from "../../team/members/members.ts";
import { readPlace, readStatus } from "../../team/records/read-records.ts";
import { unfinishedTasks } from "../../team/tasks/unassign.ts";
import type { OperationContext } from "../context.ts";
import { awaitEndingDone, processEnding } from "./settle-ending.ts";

/** What each owner has not finished; read when it is asked for, since few looks find an end. */
export type Unfinished = () => ReadonlyMap<string, readonly string[]>;

/** How a member left: the word that stands in `former`. */
type LeavingKind = "shutdown" | "killed" | "dismissed";

const SENTENCE: Readonly<Record<LeavingKind, string>> = {
  shutdown: "has shut down.",
  killed: "was ended.",
  dismissed: "had crashed and was dismissed.",
};

/**
 * What follows when a member has left for good: it goes to `former`, its tasks come free, the lead is told, what it had
 * started ends, its pane is closed, its files of this run go. Done once, whoever notices first; when this returns it is
 * done, by whomever.
 * @param unfinished for who has several to finish, and reads all tasks once
 * @returns false when somebody else did it
 */
export async function removeEndedMember(
  ctx: OperationContext,
  name: string,
  how: LeavingKind,
  unfinished: Unfinished = () => unfinishedTasks(ctx.ref),
): Promise<boolean> {
  const { ref } = ctx;
  const member = lookUpMember(readTeam(ref), name);
  if (member === undefined) {
    await awaitEndingDone(ctx, name);
    return false;
  }
  const { process, instance } = readStatus(ref, name) ?? {};
  const place = readPlace(ref, name);
  const start = place?.instance ?? instance ?? String(member.joinedAt);
  const taken = await claimEnding(
    ref,
    {
      id: `left/${name}/${start}`,
      name,
      how,
      news: `${name} ${SENTENCE[how]}`,
      tasks: [...(unfinished().get(name) ?? [])],
      process,
      place,
      worktree: worktreeAtEnd(member),
    },
    // Not one that took the name meanwhile.
    (config) =>
      lookUpMember(config, name)?.joinedAt === member.joinedAt
        ? moveToFormer(withSpentOf(config, spentBy(ref, name)), name, how, ctx.clock.now())
        : undefined,
  );
  if (taken !== undefined) await processEnding(ctx, taken);
  else await awaitEndingDone(ctx, name);
  return taken !== undefined;
}

/** Its worktree, to be discarded only where the kill that asks for it is at work: one that was killed itself asks for nothing. */
function worktreeAtEnd(member: TeamMember): WorktreeRecord | undefined {
  const worktree = worktreeOf(member);
  if (worktree?.discard === undefined || livenessOf(worktree.discard) === "alive") return worktree;
  const { discard: _, ...kept } = worktree;
  return kept;
}
