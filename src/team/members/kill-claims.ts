import * as z from "zod/mini";
import { systemClock } from "../../os/clock.ts";
import { livenessOf, ownIdentity } from "../../os/process/identity.ts";
import type { TeamMember } from "../../schema/config.ts";
import { processIdentity } from "../../schema/process-identity.ts";
import { updateTeam } from "../config/config.ts";
import type { TeamRef } from "../ref.ts";
import { withMetadata } from "./members.ts";

/** Key in a member's metadata: who is about to end it, and since when in milliseconds since the epoch. */
const KILL = "_kill";
const kill = z.object({ by: processIdentity, at: z.number() });

/** Milliseconds after which a kill says nothing any more: signals take some seconds. */
const CLAIM_TTL_MS = 30_000;

/** Whether a process that may live is ending this member: the end is that one's to tell of. */
export function hasKillClaim({ metadata }: TeamMember): boolean {
  const parsed = kill.safeParse(metadata?.[KILL]);
  if (!parsed.success) return false;
  const { by, at } = parsed.data;
  return livenessOf(by) !== "dead" && Math.abs(systemClock.now() - at) <= CLAIM_TTL_MS;
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
  value: z.infer<typeof kill> | undefined,
): Promise<void> {
  await updateTeam(ref, (config) => {
    const isMeant = ({ name, metadata }: TeamMember): boolean =>
      names.includes(name) && (value !== undefined || metadata?.[KILL] !== undefined);
    if (!config.members.some(isMeant)) return undefined;
    const members = config.members.map((one) => (isMeant(one) ? withMetadata(one, { [KILL]: value }) : one));
    return { ...config, members };
  });
}
