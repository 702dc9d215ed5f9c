import { messageOf, TeamError } from "../../errors.ts";
import { reconcileUnlessLed } from "../../operations/supervision/reconcile.ts";
import type { ClientToolContext } from "./client-tool.ts";

/**
 * Finds the ends of members for a lead that is an MCP client: no process of teams watches its team.
 * @returns what failed: the call continues without it
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
