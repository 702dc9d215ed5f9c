import { TeamError } from "../../errors.ts";
import { defined } from "../../schema/defined.ts";
import { memberWord } from "../../team/address-words.ts";
import type { OperationContext } from "../context.ts";
import { removeEndedMember } from "../ending/remove-member.ts";
import { endProcesses } from "../processes/end-processes.ts";
import { resumeMember } from "../resume/resume.ts";

/**
 * Answers the request of a crashed teammate (product.md). Approval restarts it with its conversation and its tasks; rejection
 * removes it from the team.
 * @param signal aborts a restart
 * @throws TeamError SPAWN_FAILED if the restart fails, INTERRUPTED if the signal aborts it; the request then stays open.
 * PERMISSION_DENIED if the teammate was removed but some of its processes could not be ended
 */
export async function answerCrash(
  ctx: OperationContext,
  name: string,
  { approve, signal }: { readonly approve: boolean; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  if (approve) return restartMember(ctx, name, signal);
  // The launch script keeps its pane open, and background commands may still run.
  const left = await endProcesses(ctx, name);
  await removeEndedMember(ctx, name, "dismissed");
  if (left.length === 0) return;
  throw new TeamError(
    "PERMISSION_DENIED",
    `${name} has left the team, but some of its processes could not be ended: ${left.join(", ")}.`,
    { hint: `See which programs they are: ps -p ${left.join(",")}` },
  );
}

async function restartMember(
  ctx: OperationContext,
  name: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { outcome, error } = await resumeMember(ctx, name, defined({ signal }));
  if (outcome === "restarted" || outcome === "alive") return;
  if (signal?.aborted) {
    const message = `Interrupted before ${name} had started; its request stays open.`;
    throw new TeamError("INTERRUPTED", message);
  }
  throw new TeamError("SPAWN_FAILED", error?.message ?? `${name} was not restarted.`, {
    hint: error?.hint ?? `See its last lines: teams logs ${memberWord(ctx.ref, name, ctx.env)}`,
  });
}
