import type { PlaceRecord } from "../../schema/status.ts";
import type { OperationContext } from "../context.ts";

/** Which of these places still exist, by the starts that they belong to: at most one look at each kind of place. */
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
