/**
 * Foreign text on its way to a terminal: what could drive the terminal taken out, and the rest measured in cells as
 * tmux measures it.
 */

/** A control string without its end is given up after this many characters, so that it cannot swallow what follows. */
const MAX_SEQUENCE = 256;
/** Marks stacked on one character; more is an attack on the rows above. */
const MAX_MARKS = 3;

type State = "text" | "return" | "escape" | "sequence" | "string" | "string-escape";

/** Takes control sequences out of a stream, also where a piece ends in the middle of one. */
export interface ControlStripper {
  push(piece: string): string;
}

/**
 * Keeps newline and tab; a carriage return becomes a newline. Escape sequences go whole, C0, C1 and the characters that turn the
 * writing direction go too, so that nothing that a model or a tool wrote moves the cursor, retitles the window or
 * shows other words than it holds.
 */
export function controlStripper(): ControlStripper {
  let state: State = "text";
  let length = 0;
  const step = (char: string): string => {
    if (state !== "text") {
      length += 1;
      const next = length > MAX_SEQUENCE ? undefined : follow(state, char);
      state = next ?? "text";
      if (next !== undefined) return "";
    }
    const begins = follow("text", char);
    if (begins === undefined) return UNSAFE.test(char) ? "" : LINE_END.test(char) ? "\n" : char;
    state = begins;
    length = 0;
    return begins === "return" ? "\n" : "";
  };
  return { push: (piece) => (PLAIN.test(piece) && state === "text" ? piece : [...piece].map(step).join("")) };
}

/** {@link controlStripper} for a text that is whole. */
export function stripControls(text: string): string {
  return controlStripper().push(text);
}

/**
 * What nobody sees of a text, seen: controls and characters without a shape as their escapes (`\\u0007`), so that what is allowed
 * is what was read. Newline and tab stay.
 */
export function revealHidden(text: string): string {
  return text.replace(/(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/gu, escaped);
}

/** {@link revealHidden} of a shell's command, in which only blank, tab and newline part words: any other white space is seen too. */
export function revealHiddenInCommand(command: string): string {
  return revealHidden(command).replace(/[^\S \n\t]/g, escaped);
}

function escaped(char: string): string {
  const code = (char.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
}

const PLAIN = /^[\x20-\x7e\n\t]*$/;
const UNSAFE = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/;
const LINE_END = /[\u2028\u2029]/;

/**
 * State × character: what a character leads to. One that is not here belongs to the text; so an unfinished sequence
 * never takes a newline or a letter of another script with it.
 */
const ESCAPE: readonly (readonly [RegExp, State])[] = [
  [/\[/, "sequence"],
  [/[PX\]^_]/, "string"],
  [/[\x20-\x2f]/, "escape"],
  [/[\x30-\x7e]/, "text"],
];
const STEPS: Readonly<Record<State, typeof ESCAPE>> = {
  text: [
    [/\r/, "return"],
    [/\x1b/, "escape"],
    [/\x9b/, "sequence"],
    [/[\x90\x98\x9d-\x9f]/, "string"],
  ],
  return: [[/\n/, "text"]],
  escape: ESCAPE,
  sequence: [
    [/[\x20-\x3f]/, "sequence"],
    [/[\x40-\x7e]/, "text"],
  ],
  string: [
    [/[\x07\x9c]/, "text"],
    [/\x1b/, "string-escape"],
    [/[^\r\n]/, "string"],
  ],
  "string-escape": [[/\\/, "text"], ...ESCAPE],
};

function follow(state: State, char: string): State | undefined {
  return STEPS[state].find(([pattern]) => pattern.test(char))?.[1];
}

const EMOJI_PARTS = /[\u200d\u20e3\ufe00-\ufe0f\u{1f3fb}-\u{1f3ff}\u{e0000}-\u{e0fff}]/gu;
const REGIONAL = /[\u{1f1e6}-\u{1f1ff}]/gu;
const REGIONAL_A = 0x1f1e6;

/**
 * One line for a grid of cells: control characters gone, white space single, and emoji in the one form that every tmux
 * measures alike (no variation selectors, joiners or skin tones; a flag as its two letters).
 */
export function gridText(text: string): string {
  if (/^[\x21-\x7e]+( [\x21-\x7e]+)*$/.test(text)) return text;
  return stripControls(text)
    .normalize("NFC")
    .replace(EMOJI_PARTS, "")
    .replace(REGIONAL, (letter) =>
      String.fromCharCode(65 + (letter.codePointAt(0) ?? REGIONAL_A) - REGIONAL_A),
    )
    .replace(/[\p{Cn}\p{Cs}]/gu, "\ufffd")
    .replace(/\s+/gu, " ")
    .trim();
}

interface WidthPatterns {
  readonly zero: RegExp;
  readonly wide: RegExp;
}

let patterns: WidthPatterns | undefined;

/** Made at their first use: it takes a millisecond, and most commands measure no such text. */
function widthPatterns(): WidthPatterns {
  patterns ??= {
    zero: /[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]/u,
    wide: /[\p{Emoji_Presentation}\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\u4dbf\u4e00-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/u,
  };
  return patterns;
}

/** Characters with the marks that stand on them, each with its width of 0, 1 or 2 cells. */
export function cells(text: string): { readonly char: string; readonly width: number }[] {
  const out: { char: string; width: number }[] = [];
  let marks = 0;
  for (const char of text) {
    const width = widthOf(char);
    const last = out.at(-1);
    if (width > 0 || last === undefined) {
      out.push({ char, width });
      marks = 0;
    } else if (marks < MAX_MARKS) {
      last.char += char;
      marks += 1;
    }
  }
  return out;
}

function widthOf(char: string): number {
  const code = char.charCodeAt(0);
  if (code >= 0x20 && code < 0x7f) return 1;
  const { zero, wide } = widthPatterns();
  if (zero.test(char)) return 0;
  return wide.test(char) ? 2 : 1;
}

/** Cells that a line of {@link gridText} takes. */
export function displayWidth(text: string): number {
  return /^[\x20-\x7e]*$/.test(text) ? text.length : cells(text).reduce((sum, cell) => sum + cell.width, 0);
}

/** A line cut to a width in cells, with `…` where something was left out. */
export function cutToWidth(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let used = 0;
  let out = "";
  for (const cell of cells(text)) {
    if (used + cell.width > width - 1) break;
    out += cell.char;
    used += cell.width;
  }
  return width < 1 ? "" : `${out.trimEnd()}…`;
}
