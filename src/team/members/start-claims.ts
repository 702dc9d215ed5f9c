import { randomUUID } from "node:crypto";
import { systemClock } from "../../os/clock.ts";
import { livenessOf, ownIdentity } from "../../os/process/identity.ts";
import type { TeamMember } from "../../schema/config.ts";
import { readMetadata, withMetadata } from "../../schema/member-metadata.ts";
import type { StartClaim } from "../../schema/start-claim.ts";
import { updateTeam } from "../config/config.ts";
import type { TeamRef } from "../ref.ts";
import { withoutHidden } from "./members.ts";

/** A restart claim expires after this many milliseconds: a start fails after 30 s, and the previous instance has 5 s to end. */
const CLAIM_TTL_MS = 60_000;
/** The same for a first start, which may create a worktree: its setup command may take 10 minutes. */
const FIRST_CLAIM_TTL_MS = 15 * 60_000;

/** True if a process that is not known to be dead is starting this member. */
export function hasStartClaim(member: TeamMember): boolean {
  const claim = readMetadata(member, "startClaim");
  if (claim === undefined) return false;
  const ttl = claim.first ? FIRST_CLAIM_TTL_MS : CLAIM_TTL_MS;
  return livenessOf(claim.by) !== "dead" && Math.abs(systemClock.now() - claim.at) <= ttl;
}

/**
 * Returns how much of its time a claimed start may still take, in milliseconds: never more than all of it, even if the clock was set
 * back since the claim.
 * @param limitMs the time of a start
 */
export function remainingStartMs({ at }: Pick<StartClaim, "at">, limitMs: number, now: number): number {
  return Math.min(limitMs, Math.max(0, at + limitMs - now));
}

/** Returns the joining members, each with this process's claim on its first start and the session id of its conversation. */
export function withStartClaim<T extends Pick<TeamMember, "metadata">>(joining: readonly T[]): T[] {
  const [by, at] = [ownIdentity(), systemClock.now()];
  return joining.map((one) => {
    const startClaim = { instance: randomUUID(), first: true, by, at };
    return withMetadata(one, { startClaim, session: randomUUID() });
  });
}

/**
 * Claims members for a restart under the config's lock, all in one change, with a record that survives this process. The same
 * change records the session ids of their conversations: the continued ones, or those of the next ones.
 * @param isDown returns the conversation to continue if the member may be started; called again under the lock
 * @returns the claims by name, without members that another process is starting
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
      // A stopped member is not in a turn; the new process reports its own state.
      const session = found.session ?? readMetadata(member, "session") ?? randomUUID();
      return withMetadata({ ...member, isActive: false }, { startClaim: claim, session });
    });
    return claims.size === 0 ? undefined : { ...config, members };
  });
  return claims;
}

function newClaim(before: StartClaim | undefined, session: string | undefined): StartClaim {
  const interrupted = before && { begun: before.instance, ...(before.first && { first: true }) };
  const continued = session !== undefined && { session };
  return { instance: randomUUID(), ...interrupted, ...continued, by: ownIdentity(), at: systemClock.now() };
}

/** The new place of a member. */
export type NewPlace = Pick<TeamMember, "tmuxPaneId"> & Partial<Pick<TeamMember, "backendType">>;

/**
 * Releases claims, all in one change.
 * @param places places of the members that were started; the others failed and stay as they were
 * @returns the names whose claims were still held; the others left the team meanwhile, or another process claimed them
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

/** True if a member stays in the team when it exits (`down`). */
export function keepsOnExit(member: TeamMember): boolean {
  return readMetadata(member, "keepOnExit") === true;
}

/** Sets whether members stay in the team when they exit. Idempotent. */
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
