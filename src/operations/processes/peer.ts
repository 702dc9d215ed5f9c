import type { TeamConfig, TeamMember } from "../../schema/config.ts";
import { readStatus } from "../../team/records/read-records.ts";
import type { OperationContext } from "../context.ts";
import { isForeignMember, proveForeignMember } from "./foreign-members.ts";

/**
 * Returns the version of a program that reads its inbox itself: that of a foreign member, or of a CLI that teams started.
 * @returns undefined for teams' own agent
 */
export async function peerOf(
  ctx: OperationContext,
  config: TeamConfig,
  member: TeamMember,
): Promise<{ readonly version: string | undefined } | undefined> {
  const status = readStatus(ctx.ref, member.name);
  if (status?.ownInbox === true) return { version: status.version };
  if (!isForeignMember(ctx.ref, member)) return undefined;
  const proof = await proveForeignMember(ctx, config, member);
  return { version: proof.alive === null ? undefined : proof.version };
}
