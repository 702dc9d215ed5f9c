import { type PaneId, paneId } from "./ids.ts";

/** A part of a window's layout: one pane, or parts side by side (`columns`) or above each other (`rows`). Sizes are in characters. */
export type LayoutCell =
  | { readonly kind: "pane"; readonly width: number; readonly height: number }
  | {
      readonly kind: "columns" | "rows";
      readonly width: number;
      readonly height: number;
      readonly cells: readonly LayoutCell[];
    };

/**
 * Formats a layout for `select-layout`. tmux ignores the pane numbers in it and fills the cells in window order. The total size
 * matters: a layout of another size would resize a detached window.
 */
export function layoutString(root: LayoutCell): string {
  const body = format(root, 0, 0, { next: 0 });
  return `${checksum(body)},${body}`;
}

/** Parses the size and the panes of a layout that tmux has printed; undefined for any other text. */
export function readLayout(
  text: string,
): { readonly width: number; readonly height: number; readonly panes: readonly PaneId[] } | undefined {
  const [, width, height] = /^[0-9a-f]{4},(\d+)x(\d+),0,0[,[{]/.exec(text) ?? [];
  if (width === undefined || height === undefined) return undefined;
  // After the position, a pane has its number, a group a bracket.
  const panes = [...text.matchAll(/\d+x\d+,\d+,\d+,(\d+)/g)].flatMap(([, id]) => paneId(`%${id}`) ?? []);
  return { width: Number(width), height: Number(height), panes };
}

/** Returns the columns of a pane in a layout that tmux has printed; undefined if the layout has no cell for it. */
export function columnsInLayout(layout: string, pane: PaneId): number | undefined {
  const [, columns] = new RegExp(`(\\d+)x\\d+,\\d+,\\d+,${pane.slice(1)}(?!\\d)`).exec(layout) ?? [];
  return columns === undefined ? undefined : Number(columns);
}

function format(cell: LayoutCell, x: number, y: number, panes: { next: number }): string {
  const geometry = `${cell.width}x${cell.height},${x},${y}`;
  if (cell.kind === "pane") {
    const id = panes.next;
    panes.next += 1;
    return `${geometry},${id}`;
  }
  let [left, top] = [x, y];
  const parts: string[] = [];
  for (const child of cell.cells) {
    parts.push(format(child, left, top, panes));
    // One column or line between two cells is the border.
    if (cell.kind === "columns") left += child.width + 1;
    else top += child.height + 1;
  }
  return cell.kind === "columns" ? `${geometry}{${parts.join(",")}}` : `${geometry}[${parts.join(",")}]`;
}

/** tmux's checksum: rotate right by one, add the byte, 16 bits. */
function checksum(text: string): string {
  let sum = 0;
  for (const byte of Buffer.from(text)) {
    sum = ((sum >> 1) | ((sum & 1) << 15)) & 0xffff;
    sum = (sum + byte) & 0xffff;
  }
  return sum.toString(16).padStart(4, "0");
}
