/** Returns a number of tokens that a CLI reports; 0 for any other value. */
export function countOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.round(value) : 0;
}
