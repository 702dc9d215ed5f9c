import { cutToWidth, displayWidth } from "../text/cell-width.ts";
import { joinedLines } from "../text/line-ends.ts";
import { shortCall } from "../text/short-call.ts";
import { TONE } from "../text/style.ts";
import { gridRow, gridText } from "../text/terminal-text.ts";
import { type Condition, KEYS, type KeyBinding } from "./keys.ts";
import { wrap } from "./labels.ts";
import { isOneKey } from "./prompts.ts";
import { cut, type Line, lineOf, type Span, type SpanStyle, span, widthOf } from "./spans.ts";
import type { Prompt, ScreenSize, SidebarState, Verdict } from "./state.ts";

const quiet: SpanStyle = { fg: TONE.quiet };

/** Rows of the request that is answered; the list above shows more of it. */
const ANSWERED_ROWS = 2;
/** Rows of a notice: a command in it must be readable. */
const NOTICE_ROWS = 3;
/** Minimum height for two rows of key hints, and for a row with the keys of a line. */
const TWO_ROWS_FROM = 20;
const KEYS_ROW_FROM = 12;
/** Minimum width for more than one space between the hints of a single row. */
const GAP_FROM = 60;
/** Between the hints for the keys of an input line. */
const SEPARATOR = " · ";

/** Returns the input line below the notice about the last key; without an input line the notice; without both, the keys that apply. */
export function footer(state: SidebarState, holds: ReadonlySet<Condition>, size: ScreenSize): Line[] {
  const { width, height } = size;
  const { prompt, notice } = state;
  const noticeRows = prompt === undefined || height >= KEYS_ROW_FROM ? NOTICE_ROWS : 1;
  const noticed = notice === undefined ? [] : textLines(notice, width, noticeRows, { fg: TONE.attention });
  if (prompt !== undefined) return [...noticed, ...promptLines(prompt, size)];
  if (notice !== undefined) return noticed;
  const hinted = KEYS.filter(
    ({ hint, when, in: views }) =>
      hint !== undefined && views.includes(state.view) && (when === undefined || holds.has(when)),
  );
  const rows = hintLimit(size);
  // Each hint begins with a space and a bold key: on a small screen, more hints are worth more than a second space.
  const gap = rows === 1 && width < GAP_FROM ? [] : [span(" ")];
  return rowsThatFit(hinted, rows, (keys) => hintRows(keys, width, gap));
}

/** Returns how many rows of key hints a screen has at most. */
export function hintLimit({ height }: Pick<ScreenSize, "height">): number {
  return height >= TWO_ROWS_FROM ? 2 : 1;
}

function textLines(text: string, width: number, rows: number, style: SpanStyle): Line[] {
  return wrap(text, width - 1, rows).map((row) => lineOf(cut([span(` ${row}`, style)], width)));
}

/** Lays out the keys that fit into a number of rows: the lowest ranks, and those of one rank all or none. */
function rowsThatFit(
  keys: readonly KeyBinding[],
  limit: number,
  rowsOf: (keys: readonly KeyBinding[]) => Line[],
): Line[] {
  const ranks = [...new Set(keys.map(({ rank = 0 }) => rank))].sort((a, b) => a - b);
  let chosen: readonly KeyBinding[] = [];
  for (const rank of ranks) {
    const next = keys.filter((key) => chosen.includes(key) || key.rank === rank);
    // Keys of a later rank may be shorter, and fit.
    if (rowsOf(next).length > limit) continue;
    chosen = next;
  }
  return rowsOf(chosen);
}

function hintRows(keys: readonly KeyBinding[], width: number, gap: readonly Span[]): Line[] {
  const rows: Span[][] = [];
  for (const { label, short = label, hint = "" } of keys) {
    const own = [span(` ${short}`, { bold: true }), span(` ${hint}`, quiet)];
    const last = rows.at(-1);
    if (last !== undefined && widthOf([...last, ...gap, ...own]) <= width) last.push(...gap, ...own);
    else rows.push(own);
  }
  return rows.map((row) => lineOf(cut(row, width)));
}

interface PromptLook {
  readonly title: string;
  readonly fg: number;
  readonly keys: string;
}

const ANSWER_KEYS = "↵ sends · Esc cancels · or a note";

const VERDICTS = {
  yes: { title: "approve", fg: TONE.good },
  no: { title: "reject", fg: TONE.bad },
  always: { title: "always allow", fg: TONE.good },
} as const;

/** Words for the answers to questions and crashes. */
const OTHER_VERDICTS: Readonly<
  Record<"question" | "crash", Partial<Record<Verdict, Pick<PromptLook, "title" | "keys">>>>
> = {
  question: { yes: { title: "answer", keys: "↵ sends · Esc cancels" } },
  crash: {
    yes: { title: "restart", keys: "↵ restarts it · Esc cancels" },
    no: { title: "remove", keys: "↵ removes it · Esc cancels" },
  },
};

function lookOfPrompt(prompt: Prompt): PromptLook {
  switch (prompt.kind) {
    case "answer": {
      const { verdict, asks } = prompt;
      const { title: usual, fg } = VERDICTS[verdict];
      const { title, keys } = (asks && OTHER_VERDICTS[asks][verdict]) ?? { title: usual, keys: ANSWER_KEYS };
      return { title: `${title} ${gridText(prompt.from)}:`, fg, keys };
    }
    case "message":
      return { title: `to ${gridText(prompt.to)}:`, fg: TONE.busy, keys: "↵ sends · Esc ends · ↑ earlier" };
    case "comment":
      return { title: `line ${prompt.place.line}:`, fg: TONE.attention, keys: "↵ keeps · empty removes" };
    case "filter":
      return { title: "filter:", fg: TONE.busy, keys: "↵ keeps · Esc clears" };
    case "search":
      return { title: "search:", fg: TONE.busy, keys: "↵ searches · Esc cancels" };
    case "spawn-name":
      return { title: "new teammate's name:", fg: TONE.busy, keys: "↵ continues · Esc cancels" };
    case "spawn-prompt":
      return { title: `task of ${gridText(prompt.name)}:`, fg: TONE.busy, keys: "↵ starts it · Esc cancels" };
    case "kill":
      return {
        title: `kill ${gridText(prompt.member)}?`,
        fg: TONE.bad,
        keys: "y kills · any other key keeps it",
      };
    case "discard": {
      const word = prompt.team === undefined ? "close" : "leave";
      return {
        title: `${word} without sending ${prompt.count} ${prompt.count === 1 ? "comment" : "comments"}?`,
        fg: TONE.bad,
        keys: `y ${word}s · any other key stays`,
      };
    }
  }
}

/** Returns the answered request, the keys, and the typed line, which shows its end if it is too long. */
function promptLines(prompt: Prompt, { width, height }: ScreenSize): Line[] {
  const { title, fg, keys } = lookOfPrompt(prompt);
  const asked = prompt.kind === "answer" ? answeredLines(prompt, width) : [];
  const hasKeysRow = height >= KEYS_ROW_FROM || isOneKey(prompt);
  const hint = hasKeysRow ? [lineOf(cut([span(` ${keys}`, quiet)], width))] : [];
  const what = cut([span(` ${title} `, { fg, bold: true })], width);
  const isBelow = width - widthOf(what) < MIN_LINE;
  const room = Math.max(1, width - 1 - (isBelow ? 1 : widthOf(what)));
  const { text, afterCursor = 0 } = prompt;
  const at = text.length - afterCursor;
  // The text after the cursor gets a third of the room, and the room that the text before it does not need.
  const before = shownPart(text.slice(0, at));
  const after = cutToWidth(
    shownPart(text.slice(at)),
    Math.max(Math.floor(room / 3), room - displayWidth(before)),
  );
  const shown = endOf(before, Math.max(1, room - displayWidth(after)));
  // A low screen has no row for the keys: they follow the cursor until the user types.
  const keysAfter = hasKeysRow || text !== "" ? "" : firstKeys(keys, room - 1);
  const line = [
    ...[span(isBelow ? ` ${shown}` : shown), span("▏", { blink: true }), span(after)],
    ...(keysAfter === "" ? [] : [span(` ${keysAfter}`, quiet)]),
  ];
  const rows = isOneKey(prompt)
    ? [lineOf(what)]
    : isBelow
      ? [lineOf(what), lineOf(line)]
      : [lineOf([...what, ...line])];
  return [...asked, ...hint, ...rows];
}

/** Returns the rows of the answered request; the name of a file in it is not cut. */
function answeredLines({ summary, cwd }: Extract<Prompt, { kind: "answer" }>, width: number): Line[] {
  const { text } = shortCall(summary, cwd, ANSWERED_ROWS * (width - 2));
  return textLines(text, width, ANSWERED_ROWS, {});
}

/** Returns the first keys of a line, as many as fit. */
function firstKeys(keys: string, room: number): string {
  const parts = keys.split(SEPARATOR);
  while (parts.length > 0 && displayWidth(parts.join(SEPARATOR)) > room) parts.pop();
  return parts.join(SEPARATOR);
}

/** Returns a part of a line for the screen, with all of its spaces. */
function shownPart(text: string): string {
  return gridRow(joinedLines(text, " ⏎ ").replaceAll("\t", " "));
}

/** Returns the end of a text that fits into a number of cells. */
function endOf(text: string, room: number): string {
  const chars = [...text];
  let from = chars.length;
  for (let left = room; from > 0; from -= 1) {
    left -= displayWidth(chars[from - 1] ?? "");
    if (left < 0) break;
  }
  return chars.slice(from).join("");
}

/** Minimum cells of a line next to its title. */
const MIN_LINE = 8;
