import { messageOf, TeamError } from "../../errors.ts";
import { reconcileUnlessLed } from "../../operations/supervision/reconcile.ts";
import type { ClientToolContext } from "./client-tool.ts";

/**
 * Detects ended members for a lead that is an MCP client: no process of teams watches its team.
 * @returns the failures, which do not end the call
 */
export async function reconcileForLead({
  ctx,
  role,
}: Pick<ClientToolContext, "ctx" | "role">): Promise<readonly string[]> {
  if (role !== "lead") return [];
  try {
    await reconcileUnlessLed(ctx);
    return [];
  } catch (error) {
    if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") throw error;
    return [messageOf(error)];
  }
}
