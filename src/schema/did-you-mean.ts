import { foldName } from "./names.ts";

const MOST = 3;

/** Up to three of the candidates that somebody may have meant by `name`, nearest first. */
export function nearestNames(name: string, candidates: Iterable<string>): string[] {
  const wanted = foldName(name);
  const limit = Math.max(2, Math.floor(wanted.length / 3));
  return [...new Set(candidates)]
    .map((candidate) => ({ candidate, distance: distanceOf(wanted, foldName(candidate)) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, MOST)
    .map(({ candidate }) => candidate);
}

/** A hint that names them, or says what else to do. */
export function didYouMean(name: string, candidates: Iterable<string>, otherwise: string): string {
  const near = nearestNames(name, candidates);
  return near.length === 0 ? otherwise : `Did you mean ${near.join(" or ")}?`;
}

/** A name that continues the other counts as near; else the edits from one to the other. */
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
