import { cutToWidth, displayWidth } from "./cell-width.ts";

/** Like {@link cutToWidth}, for a row with a {@link styler}'s styles and with links in it. */
export function cutStyled(row: string, width: number): string {
  // The parts with odd indexes are styles and links.
  const parts = row.split(/(\x1b\[[0-9;]*m|\x1b\]8;;[^\x1b]*\x1b\\)/);
  const texts = parts.filter((_, i) => i % 2 === 0);
  if (displayWidth(texts.join("")) <= width) return row;
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
