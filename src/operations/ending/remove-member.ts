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
import { mendConfig } from "./mend-config.ts";
import { awaitEndingDone, processEnding } from "./process-ending.ts";

/** Reads the unfinished tasks by owner; called only when an ending is found, which is rare. */
export type ReadUnfinishedTasks = () => ReadonlyMap<string, readonly string[]>;

/** How a member left, as recorded in `former`. */
type LeavingKind = "shutdown" | "killed" | "dismissed";

/** Whether the end of a member's process is proven, or only its agreement to end. */
export type ProvenEnd = "proven" | "unproven";

/** Milliseconds that an unproven program gets to exit after it has agreed. */
export const UNPROVEN_EXIT_MS = 3_000;

/** The rest of the news about a member that agreed to end, and whose process is not known. */
export const UNSEEN_PROCESS = "teams cannot see its process: if it still runs, quit it in its own window.";
/** The news about a member that agreed to end and left the team, and whose process is not known. */
export const UNPROVEN_END = `agreed to shut down and has left the team. ${UNSEEN_PROCESS}`;

const NEWS_TEXT: Readonly<Record<LeavingKind, string>> = {
  shutdown: "has shut down.",
  killed: "was killed.",
  dismissed: "crashed and was dismissed.",
};

/**
 * Removes a member that has left for good: moves it to `former`, unassigns its tasks, notifies the lead, ends its remaining
 * processes, closes its pane and removes its run files. Only the first caller does so; the others wait until it is done.
 * @param unfinished for a caller that removes several members and reads all tasks once
 * @param end the known facts about its process
 * @returns false if another process did it
 */
export async function removeEndedMember(
  ctx: OperationContext,
  name: string,
  how: LeavingKind,
  unfinished: ReadUnfinishedTasks = () => unfinishedTasks(ctx.ref),
  end: ProvenEnd = "proven",
): Promise<boolean> {
  const { ref } = ctx;
  await mendConfig(ref);
  const member = lookUpMember(readTeam(ref), name);
  if (member === undefined) {
    await awaitEndingDone(ctx, name);
    return false;
  }
  const { process, instance } = readStatus(ref, name) ?? {};
  const place = readPlace(ref, name);
  const start = place?.instance ?? instance ?? String(member.joinedAt);
  const ending = await claimEnding(
    ref,
    {
      id: `left/${name}/${start}`,
      name,
      how,
      news: `${name} ${end === "unproven" ? UNPROVEN_END : NEWS_TEXT[how]}`,
      tasks: [...(unfinished().get(name) ?? [])],
      process,
      place,
      worktree: worktreeAtEnd(member),
    },
    // The name may have a new holder by now.
    (config) =>
      lookUpMember(config, name)?.joinedAt === member.joinedAt
        ? moveToFormer(withSpentOf(config, spentBy(ref, name)), name, how, ctx.clock.now())
        : undefined,
  );
  if (ending !== undefined) await processEnding(ctx, ending);
  else await awaitEndingDone(ctx, name);
  return ending !== undefined;
}

/** Returns its worktree. The request to discard it applies only while the kill that made the request still runs. */
function worktreeAtEnd(member: TeamMember): WorktreeRecord | undefined {
  const worktree = worktreeOf(member);
  if (worktree?.discard === undefined || livenessOf(worktree.discard) === "alive") return worktree;
  const { discard: _, ...kept } = worktree;
  return kept;
}
