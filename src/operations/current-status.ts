import { messageOf, TeamError } from "../errors.ts";
import type { OperationContext } from "./context.ts";
import { type TeamStatus, teamStatus, withProblems } from "./status.ts";
import { reconcileUnlessLed } from "./supervision/reconcile.ts";
import { notifyTaskChanges } from "./supervision/task-notifications.ts";

/**
 * Reads the status. First reconciles unnoticed deaths, so that the status is complete, and sends pending task notifications. If one of
 * these fails, the status names the problem.
 */
export async function currentStatus(
  ctx: OperationContext,
  { git }: { readonly git: boolean },
): Promise<TeamStatus> {
  const failures: string[] = [];
  const attempt = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") throw error;
      failures.push(messageOf(error));
    }
  };
  await attempt(() => reconcileUnlessLed(ctx));
  const status = await teamStatus(ctx, { git });
  if (status.leadAlive !== true) await attempt(() => notifyTaskChanges(ctx, status.tasks.list));
  const { problems = [] } = status;
  const isNew = (failure: string): boolean => !problems.some((known) => known.includes(failure));
  return { ...status, ...withProblems([...problems, ...failures.filter(isNew)]) };
}
