import { pause } from "../../os/clock.ts";
import { readTeam } from "../../team/config/config.ts";
import type { OperationContext } from "../context.ts";
import { recordedFacts } from "../processes/foreign-facts.ts";
import { removeEndedMember, UNPROVEN_EXIT_MS } from "./remove-member.ts";

/**
 * Removes the members that run another program, have agreed to shut down, and are not proven to run: no process of teams watches
 * them, and a program such as an MCP client stays when it leaves the team. Call it for a lead without a process.
 * @param wait also for the members that agreed a moment ago: a peer may still write the config while it exits
 */
export async function removeAgreedMembers(
  ctx: OperationContext,
  wait: boolean,
  signal?: AbortSignal,
): Promise<void> {
  const agreed = readTeam(ctx.ref).members.flatMap((member) => {
    const { agreedToStop = false, alive, saidAt = 0 } = recordedFacts(ctx, member) ?? { alive: true };
    return agreedToStop && alive !== true ? [{ name: member.name, leftAt: saidAt + UNPROVEN_EXIT_MS }] : [];
  });
  for (const { name, leftAt } of agreed) {
    const rest = leftAt - ctx.clock.now();
    if (rest > 0 && !(wait && (await pause(rest, signal)) === "elapsed")) continue;
    await removeEndedMember(ctx, name, "shutdown");
  }
}
