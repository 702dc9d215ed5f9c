import type { PlaceRecord } from "../../schema/status.ts";
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
