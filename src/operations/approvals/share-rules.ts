import { formatProtocol } from "../../protocol/messages.ts";
import { addRules } from "../../protocol/permission-messages.ts";
import type { TeamMember } from "../../schema/config.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam } from "../../team/config/config.ts";
import { hasNoRecipient, sendMessage } from "../../team/mailbox/send.ts";
import type { OperationContext } from "../context.ts";
import { isForeign } from "./foreign-requests.ts";
import type { PeerRules } from "./peer-rules.ts";

/**
 * Sends new permission rules of a settings file to the running teammates: a third-party program may read that file only
 * at its start.
 * @param asker the member whose request added the rules; it gets them with its answer
 * @param directory sends them only to members in this directory; undefined for all members
 * @param onPeer receives each foreign member whose program may ignore rules, or does not accept them and so gets none
 * @throws the first error; the other members got the rules
 */
export async function shareRules(
  ctx: OperationContext,
  rules: readonly string[],
  {
    asker,
    directory,
    onPeer,
  }: {
    readonly asker: string;
    readonly directory: string | undefined;
    readonly onPeer?: (peer: PeerRules) => void;
  },
): Promise<void> {
  const update = {
    type: "team_permission_update" as const,
    permissionUpdate: addRules(rules, "session"),
    toolName: /^[^(]*/.exec(rules[0] ?? "")?.[0] ?? "",
    directoryPath: directory ?? "",
  };
  const text = formatProtocol(update, new Date(ctx.clock.now()));
  const isAddressed = ({ name, cwd }: TeamMember): boolean =>
    name !== LEAD_NAME && name !== asker && (directory === undefined || cwd === directory);
  const failures: unknown[] = [];
  for (const member of readTeam(ctx.ref).members.filter(isAddressed)) {
    const { name } = member;
    try {
      const peer = isForeign(ctx.ref, member) ? await peerOf(ctx, name) : undefined;
      if (peer !== undefined && peer.takes !== "yes") onPeer?.(peer);
      if (peer?.takes !== "no") await sendMessage(ctx.ref, { from: LEAD_NAME, to: name, text });
    } catch (error) {
      // Thrown below. A member that has left meanwhile needs no rules.
      if (!hasNoRecipient(error)) failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

async function peerOf(ctx: OperationContext, name: string): Promise<PeerRules | undefined> {
  const { rulesOfPeer } = await import("./peer-rules.ts");
  return rulesOfPeer(ctx, name);
}
