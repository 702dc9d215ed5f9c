import { TeamError } from "../errors.ts";
import type { TeamConfig, TeamMember } from "../schema/config.ts";
import { memberWord } from "../team/address-words.ts";
import { type Ability, peerTitle, takesChanges } from "../team/members/peer-abilities.ts";
import type { OperationContext } from "./context.ts";
import { peerOf } from "./processes/peer.ts";

/** How a program that reads its inbox itself handles a new mode: it accepts the mode, or its version is unknown. */
export interface PeerAnswer {
  readonly takes: Exclude<Ability, "no">;
  readonly version?: string | undefined;
}

/**
 * Returns how a foreign member, or a CLI that reads its inbox itself, handles a new mode. It sends no confirmation.
 * @returns undefined for teams' own agent
 * @throws TeamError PERMISSION_DENIED if its program does not accept modes
 */
export async function answerOfPeer(
  ctx: OperationContext,
  config: TeamConfig,
  member: TeamMember,
): Promise<PeerAnswer | undefined> {
  const peer = await peerOf(ctx, config, member);
  if (peer === undefined) return undefined;
  const { version } = peer;
  const takes = takesChanges(version);
  if (takes !== "no") return { takes, version };
  throw new TeamError(
    "PERMISSION_DENIED",
    `${peerTitle(version)} does not accept mode changes; the mode of ${member.name} was not changed.`,
    {
      hint: `Change it in its pane with Shift+Tab: teams attach ${memberWord(ctx.ref, member.name, ctx.env)}`,
    },
  );
}
