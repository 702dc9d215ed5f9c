import { TeamError } from "../../errors.ts";
import { operand } from "../../text/shell-quote.ts";
import type { OperationContext } from "../context.ts";
import { removeEndedMember } from "../ending/remove-member.ts";
import { endProcesses } from "../processes/end-processes.ts";
import { resumeMember } from "../resume/resume.ts";

/**
 * A person's word on a teammate that crashed (product.md): yes starts it again, with its conversation and its tasks; no lets it
 * go from the team.
 * @throws TeamError where it could not be started; it waits as before then
 */
export async function answerCrash(ctx: OperationContext, name: string, approve: boolean): Promise<void> {
  if (approve) return restartMember(ctx, name);
  // The script that holds its pane, and what went on in the background.
  const left = await endProcesses(ctx, name);
  await removeEndedMember(ctx, name, "dismissed");
  if (left.length === 0) return;
  throw new TeamError(
    "PERMISSION_DENIED",
    `${name} has left the team, but processes of it could not be ended: ${left.join(", ")}.`,
  );
}

async function restartMember(ctx: OperationContext, name: string): Promise<void> {
  const { outcome, error } = await resumeMember(ctx, name);
  if (outcome === "restarted" || outcome === "alive") return;
  throw new TeamError("SPAWN_FAILED", error?.message ?? `${name} was not started again.`, {
    hint: error?.hint ?? `Look at its last lines: teams logs ${operand(name)}`,
  });
}
