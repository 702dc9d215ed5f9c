import { controlStripper } from "../terminal-text.ts";
import {
  ATX_HEADING,
  BLANK_LINE,
  FENCE,
  indentOf,
  type ListMarker,
  listMarker,
  QUOTE,
  SETEXT_LINE,
  THEMATIC_BREAK,
} from "./block-starts.ts";
import { endsPart } from "./code.ts";

/** Markdown that looks the same without the text before and after it. */
export interface MarkdownBlock {
  readonly text: string;
  /** Whether an empty row is above the block. */
  readonly isApart: boolean;
  /** The line that began the code block, if this is a later part of it. */
  readonly continues?: string;
  /** The number of a list's item, if it is not the written one: `1.` may begin every item. */
  readonly number?: number;
}

/** Splits a stream of Markdown at the ends of its blocks, and between the items of a list. */
export interface BlockSplitter {
  /** @returns the blocks that are complete now */
  push(piece: string): MarkdownBlock[];
  /** Returns the block in progress, for a preview, without a marker that has no text yet; undefined if there is none. */
  rest(): MarkdownBlock | undefined;
  /** Whether there is a block in progress without an empty row above it. Takes no time for a long block. */
  readonly isContinuing: boolean;
  /** Ends the text. @returns the last blocks; the next piece begins a new text */
  end(): MarkdownBlock[];
}

/**
 * The kind of the current block, from its first line. `unclear`: only the parser could tell to which block the last line belongs;
 * this block ends before an unindented line that begins a new one in any case. `unknown`: perhaps in a fence; the block ends with
 * the text.
 */
type State =
  | { readonly kind: "none" | "paragraph" | "quote" | "code" | "unclear" | "unknown" }
  | { readonly kind: "list"; readonly marker: ListMarker; readonly number: number | undefined }
  | { readonly kind: "fence"; readonly open: string; readonly end: RegExp; readonly lines: number };

/** The next characters decide the kind of such a line. Without them, a preview would show `-` below a paragraph as its heading. */
const MARKER_ALONE = /^[ \t]*(?:(?:[-+*=#>|~`]+|\d{1,9}[.)]?)[ \t]*)?$/;

/** Maximum pieces of a line to check; a line of more pieces counts as more than a marker. */
const MAX_MARKER = 100;

const NO_BLOCK: State = { kind: "none" };
const UNCLEAR: State = { kind: "unclear" };
const UNKNOWN: State = { kind: "unknown" };

/** Takes linear time in the length of the stream. Control characters are removed. */
export function blockSplitter(): BlockSplitter {
  let stripper = controlStripper();
  let lines = blockLines();
  let unfinished: string[] = [];
  /** Whether the unfinished line is more than a marker: then it stays so. */
  let hasText = false;
  return {
    push(piece) {
      const blocks: MarkdownBlock[] = [];
      const [first = "", ...others] = stripper.push(piece).split("\n");
      unfinished.push(first);
      for (const next of others) {
        blocks.push(...lines.add(unfinished.join("")));
        unfinished = [next];
        hasText = false;
      }
      hasText ||= unfinished.length > MAX_MARKER || !MARKER_ALONE.test(unfinished.join(""));
      return blocks;
    },
    rest: () => lines.rest(unfinished.join("")),
    get isContinuing() {
      return lines.isContinuing(hasText);
    },
    end() {
      const last = unfinished.join("");
      const blocks = [...(last === "" ? [] : lines.add(last)), ...lines.end()];
      stripper = controlStripper();
      lines = blockLines();
      unfinished = [];
      hasText = false;
      return blocks;
    },
  };
}

interface BlockLines {
  add(line: string): MarkdownBlock[];
  rest(unfinished: string): MarkdownBlock | undefined;
  /** @param hasText whether the unfinished line is more than a marker */
  isContinuing(hasText: boolean): boolean;
  end(): MarkdownBlock[];
}

function blockLines(): BlockLines {
  let state = NO_BLOCK;
  let lines: string[] = [];
  /** Blank lines after these lines. */
  let blanks = 0;
  let head: Pick<MarkdownBlock, "continues" | "number"> = {};
  let isFirst = true;
  let isApart = false;
  const block = (more = ""): MarkdownBlock => ({ ...head, text: `${lines.join("")}${more}`, isApart });
  /** Ends the current block. */
  const take = (): MarkdownBlock[] => {
    if (lines.length === 0) return [];
    const taken = block();
    isApart = blanks > 0;
    isFirst = false;
    lines = [];
    blanks = 0;
    head = {};
    return [taken];
  };
  const begin = (line: string): MarkdownBlock[] => {
    const before = state;
    const done = take();
    lines = [`${line}\n`];
    state = stateAfter(line, before);
    if (state.kind === "list" && state.number !== state.marker.number) head = { number: state.number ?? 1 };
    // A heading and a thematic break have one line.
    return state.kind === "none" ? [...done, ...take()] : done;
  };
  const addCode = (line: string, fence: State & { kind: "fence" }): MarkdownBlock[] => {
    if (fence.end.test(line)) {
      lines.push(`${line}\n`);
      state = NO_BLOCK;
      return take();
    }
    const isNewPart = endsPart(fence.lines, lines.at(-1) ?? "", line);
    const done = isNewPart ? take() : [];
    if (isNewPart) head = { continues: fence.open };
    lines.push(`${line}\n`);
    state = { ...fence, lines: isNewPart ? 1 : fence.lines + 1 };
    return done;
  };
  const addBlank = (): MarkdownBlock[] => {
    blanks += 1;
    if (state.kind === "list" && lines.length === 1) state = afterBlankItem(state, blanks);
    if (["list", "code", "unclear", "unknown"].includes(state.kind)) return [];
    state = NO_BLOCK;
    const done = take();
    isApart = !isFirst;
    blanks = 0;
    return done;
  };
  return {
    add(line) {
      if (state.kind === "fence") return addCode(line, state);
      if (BLANK_LINE.test(line)) return addBlank();
      const next = stateWith(line, state, blanks > 0);
      if (next === undefined) return begin(line);
      lines.push("\n".repeat(blanks), `${line}\n`);
      blanks = 0;
      state = next;
      return [];
    },
    rest(unfinished) {
      const shown = MARKER_ALONE.test(unfinished) ? "" : unfinished;
      return lines.length === 0 && shown === "" ? undefined : block(`${"\n".repeat(blanks)}${shown}`);
    },
    isContinuing: (hasText) => !isApart && (lines.length > 0 || hasText),
    end: take,
  };
}

/** Returns the state after the first line of a block. @param before the state of the block above it */
function stateAfter(line: string, before: State): State {
  if (indentOf(line) >= 4) return { kind: "code" };
  const [isFence, , fence = ""] = FENCE.exec(line) ?? [];
  if (isFence !== undefined) {
    const end = new RegExp(`^ {0,3}${fence.charAt(0)}{${fence.length},}[ \\t]*$`);
    return { kind: "fence", open: line, end, lines: 0 };
  }
  if (ATX_HEADING.test(line) || THEMATIC_BREAK.test(line)) return NO_BLOCK;
  const marker = listMarker(line);
  if (marker === undefined) return { kind: QUOTE.test(line) ? "quote" : "paragraph" };
  const isNext = before.kind === "list" && before.marker.kind === marker.kind && before.number !== undefined;
  return { kind: "list", marker, number: isNext ? (before.number ?? 0) + 1 : marker.number };
}

/** Returns the state after another line of the same block; undefined if the line begins a new block. */
function stateWith(line: string, state: State, isAfterBlank: boolean): State | undefined {
  const indent = indentOf(line);
  switch (state.kind) {
    case "paragraph":
      return indent >= 4 ? state : afterParagraph(line, state);
    case "quote":
      return QUOTE.test(line) ? state : afterContainer(line, indent);
    case "code":
      return indent >= 4 ? state : undefined;
    case "list":
      if (indent >= state.marker.content) return state;
      if (isAfterBlank && (indent < 4 || !Number.isFinite(state.marker.content))) return undefined;
      return afterContainer(line, indent);
    case "unclear":
      if (indent > 0) return FENCE.test(line) ? UNKNOWN : state;
      return isNewAfterUnclear(line, isAfterBlank) ? undefined : state;
    case "unknown":
      return state;
    default:
      return undefined;
  }
}

/** After a blank line an empty item has no content; after two, a number begins another list. */
function afterBlankItem(list: State & { kind: "list" }, blanks: number): State {
  const { marker, number } = list;
  if (!marker.isEmpty) return list;
  const content = Number.POSITIVE_INFINITY;
  return { ...list, marker: { ...marker, content }, number: blanks > 1 ? undefined : number };
}

/** A line outside a quote or an item may still belong to its paragraph. */
function afterContainer(line: string, indent: number): State | undefined {
  const isNew = indent < 4 && (endsParagraph(line) || listMarker(line) !== undefined);
  return isNew ? undefined : UNCLEAR;
}

function isNewAfterUnclear(line: string, isAfterBlank: boolean): boolean {
  // The number of an ordered item would be unknown.
  if (isAfterBlank) return listMarker(line)?.number === undefined;
  return FENCE.test(line) || ATX_HEADING.test(line);
}

/** A list may begin in a paragraph only if its item has text and no number but 1. */
function afterParagraph(line: string, state: State): State | undefined {
  if (SETEXT_LINE.test(line)) return UNCLEAR;
  if (endsParagraph(line)) return undefined;
  const marker = listMarker(line);
  if (marker === undefined) return state;
  return marker.isEmpty || (marker.number ?? 1) !== 1 ? UNCLEAR : undefined;
}

function endsParagraph(line: string): boolean {
  return FENCE.test(line) || ATX_HEADING.test(line) || QUOTE.test(line) || THEMATIC_BREAK.test(line);
}
