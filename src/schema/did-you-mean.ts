import { foldName } from "./names.ts";

const MAX_NAMES = 3;

/** Returns up to three candidates that are similar to `name`, nearest first. */
export function nearestNames(name: string, candidates: Iterable<string>): string[] {
  const wanted = foldName(name);
  const limit = Math.max(2, Math.floor(wanted.length / 3));
  return [...new Set(candidates)]
    .map((candidate) => ({ candidate, distance: distanceOf(wanted, foldName(candidate)) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, MAX_NAMES)
    .map(({ candidate }) => candidate);
}

/** Returns a hint with the nearest names, or else `otherwise`. */
export function didYouMean(name: string, candidates: Iterable<string>, otherwise: string): string {
  const near = nearestNames(name, candidates);
  return near.length === 0 ? otherwise : `Did you mean ${near.join(" or ")}?`;
}

/** Returns the edit distance; 1 if one name is the beginning of the other. */
function distanceOf(a: string, b: string): number {
  if (a !== "" && (b.startsWith(a) || a.startsWith(b))) return 1;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
