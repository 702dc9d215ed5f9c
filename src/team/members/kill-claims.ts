import { systemClock } from "../../os/clock.ts";
import { livenessOf, ownIdentity } from "../../os/process/identity.ts";
import type { TeamMember } from "../../schema/config.ts";
import {
  hasMetadata,
  type MetadataChange,
  readMetadata,
  withMetadata,
} from "../../schema/member-metadata.ts";
import { updateTeam } from "../config/config.ts";
import type { TeamRef } from "../ref.ts";

/** A claim expires after this many milliseconds: signals take a few seconds. */
const CLAIM_TTL_MS = 30_000;

/** True if another process, not known to be dead, is killing this member: that process reports the end. */
export function hasKillClaim(member: TeamMember): boolean {
  const claim = readMetadata(member, "killClaim");
  if (claim === undefined) return false;
  return livenessOf(claim.by) !== "dead" && Math.abs(systemClock.now() - claim.at) <= CLAIM_TTL_MS;
}

/**
 * Runs `work`, which kills members, with a claim on each of them: other processes that notice an end leave it to this
 * one. If the claim cannot be written (a full disk, a deleted team), `work` runs anyway; at worst the end is reported as
 * a crash.
 */
export async function withKillClaim<T>(
  ref: TeamRef,
  names: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  if (names.length === 0) return work();
  await tryMark(ref, names, { by: ownIdentity(), at: systemClock.now() });
  try {
    return await work();
  } finally {
    // A member that survived may crash later, and that crash is not a kill.
    await tryMark(ref, names, undefined);
  }
}

async function tryMark(...change: Parameters<typeof mark>): Promise<void> {
  try {
    await mark(...change);
  } catch {
    // The claim matters only for reports of the end, and those cannot be written either.
  }
}

async function mark(
  ref: TeamRef,
  names: readonly string[],
  claim: MetadataChange["killClaim"],
): Promise<void> {
  await updateTeam(ref, (config) => {
    const isAffected = (member: TeamMember): boolean =>
      names.includes(member.name) && (claim !== undefined || hasMetadata(member, "killClaim"));
    if (!config.members.some(isAffected)) return undefined;
    const members = config.members.map((one) =>
      isAffected(one) ? withMetadata(one, { killClaim: claim }) : one,
    );
    return { ...config, members };
  });
}
