import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam } from "../../team/config/config.ts";
import { lookUpMember } from "../../team/members/members.ts";
import { type Ability, keepsRules, takesChanges } from "../../team/members/peer-abilities.ts";
import type { OperationContext } from "../context.ts";
import { peerOf } from "../processes/peer.ts";

/** How a program that reads its inbox itself handles permission rules. */
export interface PeerRules {
  readonly name: string;
  /** Whether it keeps the rules that come with an answer to it. */
  readonly keeps: Ability;
  /** Whether it accepts rules in a message while it runs. */
  readonly takes: Ability;
  readonly version?: string | undefined;
}

/**
 * Returns how the program of a foreign member, or a CLI that reads its inbox itself, handles rules.
 * @returns undefined for a lead, and for teams' own agent
 * @throws TeamError TEAM_NOT_FOUND
 */
export async function rulesOfPeer(ctx: OperationContext, name: string): Promise<PeerRules | undefined> {
  const config = readTeam(ctx.ref);
  const member = lookUpMember(config, name);
  if (member === undefined || member.name === LEAD_NAME) return undefined;
  const peer = await peerOf(ctx, config, member);
  if (peer === undefined) return undefined;
  const { version } = peer;
  return { name: member.name, keeps: keepsRules(version), takes: takesChanges(version), version };
}
