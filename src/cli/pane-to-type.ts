import { TeamError } from "../errors.ts";
import type { OperationContext } from "../operations/context.ts";
import { operationContext } from "../runtime/operation-context.ts";
import { deciderOf, memberByAddress, openTeam } from "../runtime/select-team.ts";
import { splitAddress } from "../schema/names.ts";
import type { AnyCall } from "../terminal/call.ts";

/**
 * Opens the member whose pane a person wants to type into.
 * @throws TeamError PERMISSION_DENIED for a model, whose keys could answer its own requests; TEAM_NOT_FOUND, AGENT_NOT_FOUND
 */
export async function paneToType(
  call: AnyCall,
  address: string,
): Promise<{ readonly ctx: OperationContext; readonly name: string; readonly team: string }> {
  const { io, options } = call;
  if (deciderOf(io.env) === "model") {
    throw new TeamError("PERMISSION_DENIED", "Only a person can type into a pane; nothing was typed.", {
      hint: "To reach a member: teams send <agent> <text>",
    });
  }
  const open = openTeam(io.env, options, splitAddress(address));
  const { name } = memberByAddress(open.ref, open.config, address);
  return { ctx: await operationContext(call, open), name, team: open.ref.team };
}
