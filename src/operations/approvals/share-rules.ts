import { formatProtocol } from "../../protocol/messages.ts";
import { addRules } from "../../protocol/permission-messages.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam } from "../../team/config/config.ts";
import { sendMessage } from "../../team/mailbox/send.ts";
import type { OperationContext } from "../context.ts";

/**
 * Sends new permission rules of a settings file to the running teammates, since they read that file at their start.
 * @param asker the member whose request added the rules; it gets them with its answer
 * @param directory sends them only to members in this directory; without it to all
 */
export async function shareRules(
  ctx: OperationContext,
  rules: readonly string[],
  { asker, directory }: { readonly asker: string; readonly directory: string | undefined },
): Promise<void> {
  const update = {
    type: "team_permission_update" as const,
    permissionUpdate: addRules(rules, "session"),
    toolName: /^[^(]*/.exec(rules[0] ?? "")?.[0] ?? "",
    directoryPath: directory ?? "",
  };
  const text = formatProtocol(update, new Date(ctx.clock.now()));
  for (const { name, cwd } of readTeam(ctx.ref).members) {
    if (name === LEAD_NAME || name === asker || (directory !== undefined && cwd !== directory)) continue;
    await sendMessage(ctx.ref, { from: LEAD_NAME, to: name, text });
  }
}
