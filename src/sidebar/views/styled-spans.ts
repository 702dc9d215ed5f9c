import { gridRow } from "../../text/terminal-text.ts";
import type { Span, SpanStyle } from "../spans.ts";

/** A style of `styled` in text/style.ts, or a link (OSC 8), whose address is dropped. */
const SEQUENCE = /\x1b\[([\d;]*)m|\x1b\]8;;[^\x1b]*\x1b\\/;

const CODES: Readonly<Record<string, SpanStyle>> = {
  0: { fg: undefined, bold: false, underline: false, reverse: false },
  1: { bold: true },
  4: { underline: true },
  7: { reverse: true },
  22: { bold: false },
  24: { underline: false },
  27: { reverse: false },
  39: { fg: undefined },
};

/** Converts a row that is styled for a terminal into spans of grid text. Styles that the grid lacks are dropped. */
export function spansOfStyled(row: string): Span[] {
  const spans: Span[] = [];
  let style: SpanStyle = {};
  for (const [i, part] of row.split(SEQUENCE).entries()) {
    if (i % 2 === 1) style = part === undefined ? style : styleAfter(style, part);
    else if (part !== undefined && part !== "") spans.push({ ...style, text: gridRow(part) });
  }
  return spans;
}

function styleAfter(style: SpanStyle, codes: string): SpanStyle {
  const [, color] = /(?:^|;)38;5;(\d+)/.exec(codes) ?? [];
  const next: { -readonly [K in keyof SpanStyle]: SpanStyle[K] } = { ...style };
  if (color !== undefined) next.fg = Number(color);
  for (const code of codes.replace(/(?:^|;)38;5;\d+/, "").split(";")) Object.assign(next, CODES[code]);
  return next;
}
