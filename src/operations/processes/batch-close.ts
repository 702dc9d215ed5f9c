import type { Backend } from "../../backend/backend.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import type { OperationContext } from "../context.ts";

/**
 * Runs work that ends several members, then closes all their places in one call for each backend, even if the work fails. By
 * then their processes have ended, and most panes have closed with them.
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
