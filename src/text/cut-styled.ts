import { cutToWidth, displayWidth } from "./cell-width.ts";
import { wordFlow } from "./word-wrap.ts";

/** A style or a link. */
const SEQUENCE = /(\x1b\[[0-9;]*m|\x1b\]8;;[^\x1b]*\x1b\\)/;

/** Like {@link cutToWidth}, for a row with a {@link styler}'s styles and with links in it. */
export function cutStyled(row: string, width: number): string {
  // The parts with odd indexes are styles and links.
  const parts = row.split(SEQUENCE);
  if (styledWidth(row) <= width) return row;
  let room = width;
  let out = "";
  for (const [i, part] of parts.entries()) {
    const isStyle = i % 2 === 1;
    const fits = isStyle || displayWidth(part) < room;
    out += fits ? part : cutToWidth(`${part}…`, room);
    if (!isStyle) room = fits ? room - displayWidth(part) : 0;
  }
  return out;
}

/**
 * Breaks a styled row at spaces into parts of at most `width` cells; the terminal breaks a longer single word. A style may
 * continue in the next part.
 */
export function wrapStyled(row: string, width: number): readonly string[] {
  if (styledWidth(row) <= width) return [row];
  const flow = wordFlow(() => width, styledWidth);
  return `${flow.push(row)}${flow.end()}`.split("\n");
}

/** Returns the cells that a row takes; its styles and links take none. */
export function styledWidth(row: string): number {
  const texts = row.split(SEQUENCE).filter((_, i) => i % 2 === 0);
  return displayWidth(texts.join(""));
}
