import type { TeamMember } from "../../schema/config.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { readTeam } from "../../team/config/config.ts";
import type { ForeignVerdict } from "../../team/members/judge-foreign.ts";
import { type AgentRecords, isTurnUnseen } from "../../team/members/judge-liveness.ts";
import { readHook } from "../../team/records/hook-record.ts";
import type { OperationContext } from "../context.ts";

/** Returns the instances whose places still exist. Asks each backend at most once. */
export async function presentInstances(
  ctx: OperationContext,
  places: readonly PlaceRecord[],
): Promise<ReadonlySet<string>> {
  const byBackend = new Map<string, PlaceRecord[]>();
  for (const place of places) byBackend.set(place.backend, [...(byBackend.get(place.backend) ?? []), place]);
  const present = new Set<string>();
  for (const [type, group] of byBackend) {
    for (const instance of (await ctx.backends.of(type)?.present(group)) ?? []) present.add(instance);
  }
  return present;
}

/**
 * Returns records together with the places that still exist, and with the verdicts on foreign members. A command without backends,
 * such as `status --line`, cannot see whether a place exists; then no place counts as gone.
 * @throws TeamError TEAM_NOT_FOUND
 */
export async function withPresence<R extends AgentRecords & { readonly member: TeamMember }>(
  ctx: OperationContext,
  records: readonly R[],
): Promise<readonly (R & Pick<AgentRecords, "presentInstances" | "foreign" | "hook">)[]> {
  const present = await presentInstances(
    ctx,
    records.flatMap(({ place }) => place ?? []),
  );
  const foreign = await verdictsOnForeign(ctx, records);
  return records.map((known) => {
    const isAsked = known.place !== undefined && ctx.backends.of(known.place.backend) !== undefined;
    const verdict = foreign?.get(known.member.name);
    const hook =
      known.status !== undefined && isTurnUnseen(known.status)
        ? readHook(ctx.ref, known.member.name)
        : undefined;
    return {
      ...known,
      ...(hook && { hook }),
      ...(isAsked && { presentInstances: present }),
      ...(verdict && { foreign: verdict }),
    };
  });
}

/** Loads the code for foreign members only for a team that has some. */
async function verdictsOnForeign(
  ctx: OperationContext,
  records: readonly (AgentRecords & { readonly member: TeamMember })[],
): Promise<ReadonlyMap<string, ForeignVerdict> | undefined> {
  const mayBeForeign = ({ member, status, place }: (typeof records)[number]): boolean =>
    status === undefined && place === undefined && member.name !== LEAD_NAME;
  if (!records.some(mayBeForeign)) return undefined;
  const { judgeForeignMembers } = await import("./foreign-facts.ts");
  return judgeForeignMembers(ctx, readTeam(ctx.ref));
}
