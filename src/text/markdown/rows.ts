import { type Style, type Styler, TONE } from "../style.ts";
import { stripControls } from "../terminal-text.ts";
import { codeRows } from "./code.ts";
import { inlineSpans } from "./inline.ts";
import { type Block, codeLines, parseMarkdown } from "./parse.ts";
import { type Row, rowText, rowWidth, type Span, wrapSpans } from "./spans.ts";
import type { MarkdownBlock } from "./splitter.ts";
import { tableRows } from "./table.ts";

export interface MarkdownOptions {
  /** Cells of a row; at least 20 to look good. */
  readonly width: number;
  /** Styles text; `styler(true)` for no colours. */
  readonly style: Styler;
  /** Whether the terminal can link text (OSC 8); else the address follows the text. */
  readonly links?: boolean;
  /** True for ASCII signs: the terminal cannot show UTF-8. */
  readonly ascii?: boolean;
}

const MIN_WIDTH = 4;
/** Minimum cells of content that is indented. */
const MIN_CONTENT = 6;
const MAX_RULE = 60;
const NONE: readonly Style[] = [];
const QUIET: readonly Style[] = [TONE.quiet];
const HEADINGS: Readonly<Record<string, readonly Style[]>> = {
  h1: ["bold", "underline"],
  h2: ["bold"],
  h3: ["bold", "italic"],
};

const UNICODE = {
  bar: "│",
  line: "─",
  cross: "┼",
  bullet: "•",
  bullets: ["•", "◦"],
  open: "☐",
  done: "✓",
} as const;
const ASCII = {
  bar: "|",
  line: "-",
  cross: "+",
  bullet: "*",
  bullets: ["*", "-"],
  open: "[ ]",
  done: "[x]",
} as const;

interface Context {
  readonly width: number;
  readonly links: boolean;
  readonly signs: typeof UNICODE | typeof ASCII;
  readonly lines: readonly string[];
  /** Number of lists around this block. */
  readonly lists: number;
  /** Number of quotes around this block. */
  readonly quotes: number;
  /** The number of the first item, if the first block is an ordered list, instead of the written one. */
  readonly number?: number | undefined;
}

/**
 * Renders Markdown, one block or several, as rows of at most `width` cells. One empty row separates blocks if blank lines do, also
 * before the first block. Foreign text is safe: a row contains no escape sequence except styles and links.
 * @param block Markdown, or a block of `blockSplitter`
 */
export function markdownRows(block: string | MarkdownBlock, options: MarkdownOptions): string[] {
  const { text, isApart, continues, number } = typeof block === "string" ? blockOf(block) : block;
  const source = stripControls(continues === undefined ? text : `${continues}\n${text}`);
  const blocks = parseMarkdown(source);
  const rows = blocksRows(blocks, {
    width: Math.max(MIN_WIDTH, options.width),
    links: options.links ?? false,
    signs: options.ascii ? ASCII : UNICODE,
    lines: source.split("\n"),
    lists: 0,
    quotes: 0,
    number,
  });
  return (isApart && blocks.length > 0 ? [[], ...rows] : rows).map((row) => rowText(row, options.style));
}

function blockOf(text: string): MarkdownBlock {
  return { text, isApart: /^[ \t]*\n/.test(text) };
}

/** Returns the rows of blocks below each other. */
function blocksRows(blocks: readonly Block[], context: Context): Row[] {
  return blocks.flatMap((block, i) => {
    if (i === 0) return blockRows(block, context);
    const rows = blockRows(block, { ...context, number: undefined });
    return isBelowBlank(block, context) ? [[], ...rows] : rows;
  });
}

/** Returns whether a blank line is above a block; in a quote, it has only the characters of the quotes. */
function isBelowBlank({ start }: Block, { lines, quotes }: Context): boolean {
  const above = lines[start - 1];
  return above !== undefined && /^[ \t>]*$/.test(above) && above.replace(/[^>]/g, "").length <= quotes;
}

function blockRows(block: Block, context: Context): Row[] {
  const { width, links, signs } = context;
  const { token } = block;
  switch (token.type) {
    case "paragraph_open":
      return wrapSpans(inlineOf(block, NONE, links), width);
    case "heading_open":
      return wrapSpans(inlineOf(block, HEADINGS[token.tag] ?? ["italic"], links), width);
    case "bullet_list_open":
    case "ordered_list_open":
      return listRows(block, context);
    case "blockquote_open":
      return quoteRows(block, context);
    case "table_open":
      return tableRows(block, width, links, signs);
    case "fence":
      return codeRows(codeLines(token.content), token.info, width);
    case "code_block":
      return codeRows(codeLines(token.content), "", width);
    case "hr":
      return [[{ text: signs.line.repeat(Math.min(width, MAX_RULE)), styles: [TONE.faint] }]];
    default:
      return [];
  }
}

function quoteRows({ children }: Block, context: Context): Row[] {
  const bar = { text: `${context.signs.bar} `, styles: QUIET };
  return indented(children, bar, bar, { ...context, quotes: context.quotes + 1, number: undefined });
}

function inlineOf({ children }: Block, base: readonly Style[], links: boolean): readonly Span[] {
  return inlineSpans(children[0]?.token.children ?? [], base, links);
}

function listRows(list: Block, context: Context): Row[] {
  const inner = { ...context, lists: context.lists + 1, number: undefined };
  const first = context.number ?? Number(list.token.attrGet("start") ?? 1);
  return list.children.flatMap((item, i) => {
    const sign = taskSign(item, context) ?? listSign(list, first + i, context);
    const marker = { text: `${sign} `, styles: QUIET };
    const rows = indented(
      item.children,
      marker,
      { text: " ".repeat(marker.text.length), styles: NONE },
      inner,
    );
    return i > 0 && isBelowBlank(item, context) ? [[], ...rows] : rows;
  });
}

function listSign({ token }: Block, number: number, { signs, lists }: Context): string {
  if (token.type === "ordered_list_open") return `${number}${token.markup}`;
  return signs.bullets[lists % signs.bullets.length] ?? signs.bullet;
}

/** Removes `[ ]` or `[x]` from the beginning of an item's text. @returns its sign; undefined if the item is not a task */
function taskSign(item: Block, { signs }: Context): string | undefined {
  const text = item.children[0]?.children[0]?.token.children?.[0];
  const mark = text?.type === "text" ? /^\[([ xX])\] /.exec(text.content) : null;
  if (text === undefined || mark === null) return undefined;
  text.content = text.content.slice(mark[0].length);
  return mark[1] === " " ? signs.open : signs.done;
}

/** Returns the rows of a container's blocks, with `first` before the first row and `others` before the others. */
function indented(blocks: readonly Block[], first: Span, others: Span, context: Context): Row[] {
  const taken = rowWidth([first]);
  const width = context.width - taken;
  if (width < MIN_CONTENT) return [...wrapSpans([first], context.width), ...blocksRows(blocks, context)];
  const rows = blocksRows(blocks, { ...context, width });
  return (rows.length === 0 ? [[]] : rows).map((row, i) => {
    const before = i === 0 ? first : others;
    if (row.length > 0) return [before, ...row];
    const text = before.text.trimEnd();
    return text === "" ? [] : [{ ...before, text }];
  });
}
