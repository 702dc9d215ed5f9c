import { randomUUID } from "node:crypto";
import { systemClock } from "../../os/clock.ts";
import { livenessOf, ownIdentity } from "../../os/process/identity.ts";
import type { TeamMember } from "../../schema/config.ts";
import { readMetadata, withMetadata } from "../../schema/member-metadata.ts";
import type { StartClaim } from "../../schema/start-claim.ts";
import { updateTeam } from "../config/config.ts";
import type { TeamRef } from "../ref.ts";
import { withoutHidden } from "./members.ts";

/** Milliseconds after which a restart is anybody's: a start is given up after 30 s, and what it follows has 5 s to end. */
const CLAIM_TTL_MS = 60_000;
/** The same of a first start, which may have a worktree to make: its set-up command has 10 minutes. */
const FIRST_CLAIM_TTL_MS = 15 * 60_000;

/** True if a living process is starting this member. */
export function hasStartClaim(member: TeamMember): boolean {
  const claim = readMetadata(member, "startClaim");
  if (claim === undefined) return false;
  const longest = claim.first ? FIRST_CLAIM_TTL_MS : CLAIM_TTL_MS;
  return livenessOf(claim.by) !== "dead" && Math.abs(systemClock.now() - claim.at) <= longest;
}

/** Returns the joining members, each with this process's claim on its first start. */
export function withStartClaim<T extends Pick<TeamMember, "metadata">>(joining: readonly T[]): T[] {
  const [by, at] = [ownIdentity(), systemClock.now()];
  return joining.map((one) => {
    return withMetadata(one, { startClaim: { instance: randomUUID(), first: true, by, at } });
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
): Promise<ReadonlyMap<string, StartClaim>> {
  const claims = new Map<string, StartClaim>();
  await updateTeam(ref, (config) => {
    claims.clear();
    const members = config.members.map((member) => {
      const found = hasStartClaim(member) ? undefined : isDown(member);
      if (found === undefined) return member;
      const claim = newClaim(readMetadata(member, "startClaim"), found.session);
      claims.set(member.name, claim);
      // Whoever is down is in no turn; the new start says of itself when it is.
      return withMetadata({ ...member, isActive: false }, { startClaim: claim });
    });
    return claims.size === 0 ? undefined : { ...config, members };
  });
  return claims;
}

function newClaim(before: StartClaim | undefined, session: string | undefined): StartClaim {
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
  claims: ReadonlyMap<string, StartClaim>,
  places: ReadonlyMap<string, NewPlace>,
): Promise<ReadonlySet<string>> {
  const finished = new Set<string>();
  await updateTeam(ref, (config) => {
    finished.clear();
    const gone = new Set<string>();
    const members = config.members.map((member) => {
      const { name } = member;
      const claim = claims.get(name);
      if (claim === undefined || claim.instance !== readMetadata(member, "startClaim")?.instance)
        return member;
      finished.add(name);
      const now = places.get(name);
      if (now === undefined) return withMetadata(member, { startClaim: undefined });
      gone.add(member.tmuxPaneId);
      return withMetadata(
        { ...member, ...now },
        { startClaim: undefined, keepOnExit: undefined, tasksToRestore: undefined },
      );
    });
    return finished.size === 0 ? undefined : { ...withoutHidden(config, gone), members };
  });
  return finished;
}

/** Whether a member was asked to end and yet to stay in the team (`down`). */
export function keepsOnExit(member: TeamMember): boolean {
  return readMetadata(member, "keepOnExit") === true;
}

/** Says of members whether they stay in the team at their end. */
export async function setKeepOnExit(ref: TeamRef, names: ReadonlySet<string>, stays: boolean): Promise<void> {
  await updateTeam(ref, (config) => {
    const isOther = (member: TeamMember): boolean => names.has(member.name) && keepsOnExit(member) !== stays;
    if (!config.members.some(isOther)) return undefined;
    const members = config.members.map((member) =>
      isOther(member) ? withMetadata(member, { keepOnExit: stays || undefined }) : member,
    );
    return { ...config, members };
  });
}
