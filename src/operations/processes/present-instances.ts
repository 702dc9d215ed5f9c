import type { PlaceRecord } from "../../schema/status.ts";
import type { AgentRecords } from "../../team/members/judge-liveness.ts";
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
 * Returns records together with the places that still exist. A command without backends, such as `status --line`, knows of no place
 * whether it exists; such a place does not count as gone.
 */
export async function withPresence<R extends AgentRecords>(
  ctx: OperationContext,
  records: readonly R[],
): Promise<readonly (R & Pick<AgentRecords, "presentInstances">)[]> {
  const present = await presentInstances(
    ctx,
    records.flatMap(({ place }) => place ?? []),
  );
  return records.map((known) => {
    const isAsked = known.place !== undefined && ctx.backends.of(known.place.backend) !== undefined;
    return isAsked ? { ...known, presentInstances: present } : known;
  });
}
