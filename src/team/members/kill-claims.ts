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

/** Milliseconds after which a kill says nothing any more: signals take some seconds. */
const CLAIM_TTL_MS = 30_000;

/** Whether a process that may live is ending this member: the end is that one's to tell of. */
export function hasKillClaim(member: TeamMember): boolean {
  const claim = readMetadata(member, "killClaim");
  if (claim === undefined) return false;
  return livenessOf(claim.by) !== "dead" && Math.abs(systemClock.now() - claim.at) <= CLAIM_TTL_MS;
}

/**
 * Ends members by what `work` does, so that whoever notices an end meanwhile leaves it to this process. Where that cannot be
 * written down (a full disk, a team that is gone) they are ended all the same: at worst their end is told as a crash.
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
    // Whoever could not be ended may crash another time.
    await tryMark(ref, names, undefined);
  }
}

async function tryMark(...change: Parameters<typeof mark>): Promise<void> {
  try {
    await mark(...change);
  } catch {
    // What keeps this from being written keeps the end from being written too, by which it is told.
  }
}

async function mark(
  ref: TeamRef,
  names: readonly string[],
  claim: MetadataChange["killClaim"],
): Promise<void> {
  await updateTeam(ref, (config) => {
    const isMeant = (member: TeamMember): boolean =>
      names.includes(member.name) && (claim !== undefined || hasMetadata(member, "killClaim"));
    if (!config.members.some(isMeant)) return undefined;
    const members = config.members.map((one) =>
      isMeant(one) ? withMetadata(one, { killClaim: claim }) : one,
    );
    return { ...config, members };
  });
}
