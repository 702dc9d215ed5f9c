import { cutToWidth, displayWidth } from "../text/cell-width.ts";
import { TONE } from "../text/style.ts";
import type { SidebarTarget } from "./state.ts";

export interface SpanStyle {
  /** Index of the 256-colour palette; the terminal's own colour if omitted. */
  readonly fg?: number | undefined;
  readonly bold?: boolean;
  readonly blink?: boolean;
  readonly underline?: boolean;
  readonly reverse?: boolean;
}

/** A piece of one line in one style; its text is grid text. */
export interface Span extends SpanStyle {
  readonly text: string;
}

export interface Line {
  readonly spans: readonly Span[];
  /** The row that a click on the line selects. */
  readonly target?: SidebarTarget;
  /** Id of a request that is shown whole, if this is its last line. */
  readonly wholeRequest?: string;
}

export const BLANK: Line = { spans: [] };

export function span(text: string, style: SpanStyle = {}): Span {
  return { text, ...style };
}

export function lineOf(spans: readonly Span[], target?: SidebarTarget): Line {
  return target === undefined ? { spans } : { spans, target };
}

export function widthOf(spans: readonly Span[]): number {
  return spans.reduce((sum, { text }) => sum + displayWidth(text), 0);
}

/** Cuts spans to a width; the span that does not fit ends in `…`. */
export function cut(spans: readonly Span[], width: number): Span[] {
  const out: Span[] = [];
  let left = width;
  for (const piece of spans) {
    if (left <= 0) break;
    const text = cutToWidth(piece.text, left);
    out.push({ ...piece, text });
    left -= text === piece.text ? displayWidth(text) : left;
  }
  return out;
}

/** Puts `left` and `right` at the two ends of a row; cuts `left` to make room for `right`. */
export function ends(left: readonly Span[], right: readonly Span[], width: number): Span[] {
  const end = cut(right, width);
  const room = Math.max(0, width - widthOf(end) - (end.length > 0 ? 1 : 0));
  const start = cut(left, room);
  const gap = width - widthOf(start) - widthOf(end);
  return end.length === 0 ? start : [...start, span(" ".repeat(Math.max(0, gap))), ...end];
}

/** Joins two columns of lines side by side, with `gap` between them. */
export function beside(left: readonly Line[], right: readonly Line[], width: number, gap: Span): Line[] {
  return Array.from({ length: Math.max(left.length, right.length) }, (_, i) => {
    const a = left[i] ?? BLANK;
    const b = right[i] ?? BLANK;
    const start = cut(a.spans, width);
    const fill = span(" ".repeat(width - widthOf(start)));
    return lineOf([...start, fill, gap, ...b.spans], a.target ?? b.target);
  });
}

/** Columns before the text below a title. */
export const INDENT = 3;
/** Minimum width for figures such as tokens: below it, names need the room. */
export const FIGURES_FROM = 26;

/** A section's title, with a figure at the right end. */
export function heading(title: string, figure: string, width: number): Line {
  const right = figure === "" ? [] : [span(figure, { fg: TONE.quiet })];
  return lineOf(ends([span(` ${title}`, { fg: TONE.quiet, bold: true })], right, width));
}

/** The mark of the selected row. */
export function bar(selected: boolean): Span {
  return selected ? span("▌", { fg: TONE.busy, bold: true }) : span(" ");
}
