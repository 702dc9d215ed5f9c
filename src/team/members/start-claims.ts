import { randomUUID } from "node:crypto";
import { systemClock } from "../../os/clock.ts";
import { livenessOf, ownIdentity } from "../../os/process/identity.ts";
import type { TeamMember } from "../../schema/config.ts";
import { type Restart, restart } from "../../schema/start-claim.ts";
import { updateTeam } from "../config/config.ts";
import type { TeamRef } from "../ref.ts";
import { withMetadata, withoutHidden } from "./members.ts";

/** Milliseconds after which a restart is anybody's: a start is given up after 30 s, and what it follows has 5 s to end. */
const CLAIM_TTL_MS = 60_000;
/** The same of a first start, which may have a worktree to make: its set-up command has 10 minutes. */
const FIRST_CLAIM_TTL_MS = 15 * 60_000;

/** Keys in a member's metadata. */
const CLAIM = "_restart";
const STAYS = "_stays";
const HELD = "_held";

/** The start that somebody has begun; a record that does not parse tells nothing. */
export function startClaimOf({ metadata }: TeamMember): Restart | undefined {
  const parsed = restart.safeParse(metadata?.[CLAIM]);
  return parsed.success ? parsed.data : undefined;
}

/** Whether somebody is at it. */
export function hasStartClaim(member: TeamMember): boolean {
  const claim = startClaimOf(member);
  if (claim === undefined) return false;
  const longest = claim.first ? FIRST_CLAIM_TTL_MS : CLAIM_TTL_MS;
  return livenessOf(claim.by) !== "dead" && Math.abs(systemClock.now() - claim.at) <= longest;
}

/** Those that are about to join, each with the claim of this process on its first start. */
export function withStartClaim<T extends Pick<TeamMember, "metadata">>(joining: readonly T[]): T[] {
  const [by, at] = [ownIdentity(), systemClock.now()];
  return joining.map((one) => {
    const claim: Restart = { instance: randomUUID(), first: true, by, at };
    return { ...one, metadata: { ...one.metadata, [CLAIM]: claim } };
  });
}

/**
 * Claims members for a restart under the config's lock, all in one change, with a record that survives this process.
 * @param isDown whether this one may be started, and the conversation that it goes on with; asked again under the lock
 * @returns the claims by name; none of those that somebody else is at
 */
export async function claimStarts(
  ref: TeamRef,
  isDown: (member: TeamMember) => { readonly session: string | undefined } | undefined,
): Promise<ReadonlyMap<string, Restart>> {
  const claims = new Map<string, Restart>();
  await updateTeam(ref, (config) => {
    claims.clear();
    const members = config.members.map((member) => {
      const found = hasStartClaim(member) ? undefined : isDown(member);
      if (found === undefined) return member;
      const claim = newClaim(startClaimOf(member), found.session);
      claims.set(member.name, claim);
      // Whoever is down is in no turn; the new start says of itself when it is.
      return withMetadata({ ...member, isActive: false }, { [CLAIM]: claim });
    });
    return claims.size === 0 ? undefined : { ...config, members };
  });
  return claims;
}

function newClaim(before: Restart | undefined, session: string | undefined): Restart {
  const begun = before && { begun: before.instance, ...(before.first && { first: true }) };
  const goesOn = session !== undefined && { session };
  return { instance: randomUUID(), ...begun, ...goesOn, by: ownIdentity(), at: systemClock.now() };
}

/** Where a member lives from now on. */
export type NewPlace = Pick<TeamMember, "tmuxPaneId"> & Partial<Pick<TeamMember, "backendType">>;

/**
 * Ends claims, all in one change.
 * @param places of those that were started; the others failed and are as before
 * @returns the names whose claims still were these; the others left the team meanwhile, or are somebody else's
 */
export async function releaseStartClaims(
  ref: TeamRef,
  claims: ReadonlyMap<string, Restart>,
  places: ReadonlyMap<string, NewPlace>,
): Promise<ReadonlySet<string>> {
  const finished = new Set<string>();
  await updateTeam(ref, (config) => {
    finished.clear();
    const gone = new Set<string>();
    const members = config.members.map((member) => {
      const { name } = member;
      const claim = claims.get(name);
      if (claim === undefined || claim.instance !== startClaimOf(member)?.instance) return member;
      finished.add(name);
      const now = places.get(name);
      if (now === undefined) return withMetadata(member, { [CLAIM]: undefined });
      gone.add(member.tmuxPaneId);
      return withMetadata(
        { ...member, ...now },
        { [CLAIM]: undefined, [STAYS]: undefined, [HELD]: undefined },
      );
    });
    return finished.size === 0 ? undefined : { ...withoutHidden(config, gone), members };
  });
  return finished;
}

/** Whether a member was asked to end and yet to stay in the team (`down`). */
export function keepsOnExit({ metadata }: TeamMember): boolean {
  return metadata?.[STAYS] === true;
}

/** Says of members whether they stay in the team at their end. */
export async function setKeepOnExit(ref: TeamRef, names: ReadonlySet<string>, stays: boolean): Promise<void> {
  await updateTeam(ref, (config) => {
    const isOther = (member: TeamMember): boolean => names.has(member.name) && keepsOnExit(member) !== stays;
    if (!config.members.some(isOther)) return undefined;
    const members = config.members.map((member) =>
      isOther(member) ? withMetadata(member, { [STAYS]: stays || undefined }) : member,
    );
    return { ...config, members };
  });
}

/** Remembers which tasks a member had when it ended: they are its own again when it is started again and they are free. */
export function withTasksToRestore(member: TeamMember, ids: readonly string[]): TeamMember {
  return withMetadata(member, { [HELD]: ids.length === 0 ? undefined : [...ids] });
}

export function tasksToRestore({ metadata }: TeamMember): readonly string[] {
  const ids = metadata?.[HELD];
  return Array.isArray(ids) ? ids.filter((id): id is string => typeof id === "string") : [];
}
