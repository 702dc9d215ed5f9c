/** Characters after which a control string without an end becomes text again, so that it cannot swallow the rest. */
const MAX_SEQUENCE = 256;
type State = "text" | "return" | "escape" | "sequence" | "string" | "string-escape";

/** Removes control sequences from a stream, even if a sequence is split between two pieces. */
export interface ControlStripper {
  push(piece: string): string;
}

/**
 * Creates a stripper that removes whole escape sequences, C0 and C1 controls, and characters that change the writing
 * direction. It keeps newlines and tabs; a carriage return becomes a newline. So the output of a model or a tool cannot move
 * the cursor, set the window's title or disguise its words.
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

/** Strips a complete text as {@link controlStripper} does. */
export function stripControls(text: string): string {
  return controlStripper().push(text);
}

/**
 * Escapes control and invisible characters (`\\u0007`) except newline and tab, so that a user sees all of what they allow.
 */
export function revealHidden(text: string): string {
  return text.replace(new RegExp(HIDDEN, "gu"), escaped);
}

/** {@link revealHidden} for a shell command: escapes all white space that separates no words for a shell, too. */
export function revealHiddenInCommand(command: string): string {
  return revealHidden(command).replace(/[^\S \n\t]/g, escaped);
}

/** Escapes everything but ASCII, newline and tab, for a terminal that cannot show it. */
export function asciiText(text: string): string {
  return text.replace(/[^\x20-\x7e\n\t]/gu, escaped);
}

/**
 * Formats a value as JSON that is safe to print: `JSON.stringify` leaves DEL, C1 controls and characters that change the writing
 * direction as they are. A parser reads the same value, except that half of a surrogate pair becomes U+FFFD: many parsers refuse it.
 */
export function printableJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, undefined, indent);
  return json.replace(RAW_IN_JSON, escaped).replace(HALF_IN_JSON, "$1\\ufffd");
}

function escaped(char: string): string {
  const code = (char.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
}

/** Text that the stripper keeps as it is. Without this, each of its characters takes several patterns. */
const PLAIN = /^[^\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]*$/;
const UNSAFE = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/;
/** The part of {@link UNSAFE} and {@link LINE_END} that JSON permits in a string. */
const RAW_IN_JSON = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
/** Half of a surrogate pair as `JSON.stringify` escapes it; after an odd number of backslashes, the letters are text. */
const HALF_IN_JSON = /(?<!\\)((?:\\\\)*)\\ud[89a-f][\da-f]{2}/g;
const LINE_END = /[\u2028\u2029]/;

/**
 * The next state for each state and character. A character without an entry is text, so an unfinished sequence never
 * swallows a newline or a letter of another script.
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

/** Characters that terminals measure differently: parts of emoji, and the soft hyphen. */
const UNEVEN = /\u00ad|[\u200d\u20e3\ufe00-\ufe0f\u{1f3fb}-\u{1f3ff}\u{e0000}-\u{e0fff}]/gu;
const REGIONAL = /[\u{1f1e6}-\u{1f1ff}]/gu;
export const REGIONAL_A = 0x1f1e6;

/**
 * Returns one line for a grid of cells, without control characters and with single spaces. Emoji get the form that all
 * versions of tmux measure alike: no variation selectors, joiners or skin tones; a flag becomes its two letters. A soft hyphen
 * is left out, too.
 */
export function gridText(text: string): string {
  if (/^[\x21-\x7e]+( [\x21-\x7e]+)*$/.test(text)) return text;
  return gridRow(text).replace(/\s+/gu, " ").trim();
}

/** {@link gridText} that keeps all white space. */
export function gridRow(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return stripControls(text)
    .normalize("NFC")
    .replace(UNEVEN, "")
    .replace(REGIONAL, (letter) =>
      String.fromCharCode(65 + (letter.codePointAt(0) ?? REGIONAL_A) - REGIONAL_A),
    )
    .replace(new RegExp(UNASSIGNED, "gu"), "\ufffd");
}

/*
 * These patterns are strings: V8 checks each regular expression literal when it reads a file, and a Unicode property costs
 * every cold command up to a millisecond. A string is compiled when its function runs.
 */

const HIDDEN = "(?![\\n\\t])[\\p{Cc}\\p{Cf}\\u2028\\u2029]";
const UNASSIGNED = "[\\p{Cn}\\p{Cs}]";

/** The long name of an option: `teammateMode` → `teammate-mode`. */
export function longName(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
