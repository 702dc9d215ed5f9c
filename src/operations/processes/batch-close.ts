import type { Backend } from "../../backend/backend.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import type { OperationContext } from "../context.ts";

/**
 * Does something that ends several members, and closes all their places behind it, in one call of each backend: what ran in
 * them has ended by then, and mostly taken its pane with it. Also when the work fails.
 */
export async function batchClose<T>(
  ctx: OperationContext,
  work: (ctx: OperationContext) => Promise<T>,
): Promise<T> {
  const waiting = new Map<string, PlaceRecord[]>();
  const of = (type: string): Backend | undefined => {
    const backend = ctx.backends.of(type);
    const close = async (places: readonly PlaceRecord[]): Promise<void> => {
      waiting.set(type, [...(waiting.get(type) ?? []), ...places]);
    };
    return backend && { ...backend, close };
  };
  try {
    return await work({ ...ctx, backends: { ...ctx.backends, of } });
  } finally {
    for (const [type, places] of waiting) await ctx.backends.of(type)?.close(places);
  }
}
