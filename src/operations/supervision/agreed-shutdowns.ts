import { pause } from "../../os/clock.ts";
import type { TeamMember } from "../../schema/config.ts";
import { readTeam } from "../../team/config/config.ts";
import type { OperationContext } from "../context.ts";
import { UNPROVEN_EXIT_MS } from "../ending/remove-member.ts";
import { recordedFacts } from "../processes/foreign-facts.ts";
import { reconcileUnlessLed } from "./reconcile.ts";

/** Milliseconds by which a timer may ring early. */
const EARLY_MS = 20;

/**
 * Reconciles as {@link reconcileUnlessLed}, but first waits until members whose process is not known, such as MCP clients, have had
 * their time to exit after they agreed to shut down. Without this wait they would still count as alive.
 * @param signal ends the wait; then nothing is reconciled
 */
export async function reconcileAgreed(ctx: OperationContext, signal?: AbortSignal): Promise<void> {
  const restMs = Math.max(0, ...readTeam(ctx.ref).members.map((member) => restOf(ctx, member)));
  if (restMs > 0 && (await pause(restMs + EARLY_MS, signal)) !== "elapsed") return;
  await reconcileUnlessLed(ctx);
}

/** Returns how many milliseconds a member has left to exit; 0 if nothing waits for it. */
function restOf(ctx: OperationContext, member: TeamMember): number {
  const { agreedToStop, alive, saidAt } = recordedFacts(ctx, member) ?? {};
  if (agreedToStop !== true || alive !== null || saidAt === undefined) return 0;
  // Never longer: the member itself dates its message.
  return Math.min(UNPROVEN_EXIT_MS, Math.max(0, saidAt + UNPROVEN_EXIT_MS - ctx.clock.now()));
}
