import { TONE } from "../text/style.ts";
import { type Line, lineOf, span } from "./spans.ts";

/**
 * Returns the blocks around the selected item's block that fit into `room` rows, and the number of omitted items on either side.
 * Renders only the blocks that may fit: a block has at least one row.
 */
export function around<T>(
  items: readonly T[],
  rowsOf: (item: T) => Line[],
  at: number,
  room: number,
): Line[] {
  const blocks: Line[][] = [];
  const block = (index: number): Line[] | undefined => {
    const item = items[index];
    if (item !== undefined) blocks[index] ??= rowsOf(item);
    return blocks[index];
  };
  const all = items.length > room ? undefined : items.flatMap((_, index) => block(index) ?? []);
  if (all !== undefined && all.length <= room) return all;
  let from = Math.max(0, at);
  let to = from;
  let used = block(from)?.length ?? 0;
  for (let grew = true; grew; ) {
    grew = false;
    for (const [side, index] of [
      ["to", to + 1],
      ["from", from - 1],
    ] as const) {
      const size = block(index)?.length;
      if (size === undefined || used + size > room - 1) continue;
      used += size;
      if (side === "to") to = index;
      else from = index;
      grew = true;
    }
  }
  const below = items.length - 1 - to;
  const more = [from > 0 ? `↑ ${from}` : "", below > 0 ? `↓ ${below}` : ""].filter((part) => part !== "");
  const mark = lineOf([span(`   ${more.join("  ")} more`, { fg: TONE.quiet })]);
  return [...blocks.slice(from, to + 1).flat(), mark].slice(0, Math.max(0, room));
}
