/** What is rung beside a FIFO, by the FIFO's path. */
const others = new Map<string, Set<() => void>>();

/**
 * Whenever this process rings that FIFO, something else is rung too: the socket pair that it shares with the FIFO's owner
 * (architecture.md rule 1). Whoever sends needs to know of neither.
 * @returns ends it
 */
export function ringBeside(path: string, ring: () => void): () => void {
  const rings = others.get(path) ?? new Set();
  others.set(path, rings.add(ring));
  return () => {
    rings.delete(ring);
    if (rings.size === 0) others.delete(path);
  };
}

/** Rings what stands beside a FIFO. @returns whether there was anything */
export function ringOthers(path: string): boolean {
  const rings = others.get(path);
  for (const ring of rings ?? []) ring();
  return rings !== undefined;
}
