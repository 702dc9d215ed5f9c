/**
 * Keys of terminals that report every modifier: `CSI u` (fixterms, kitty, tmux with `extended-keys`) and xterm's modifyOtherKeys. They are
 * read as the bytes that other terminals send, except that Shift+Enter and Alt+Enter add a line.
 */

const ESCAPE = "\u001b";
/** Alt+Enter, which adds a line. */
const NEWLINE = `${ESCAPE}\r`;
const ERASE = "\u007f";

/** Bits of the modifiers; the sequence contains their sum plus one. */
const SHIFT = 1;
const ALT = 2;
const CONTROL = 4;
/** Super, hyper and meta: keys of a window manager. */
const FOREIGN = 8 | 16 | 32;
const CAPS_LOCK = 64;

/** `CSI code:shifted:base ; modifiers:event ; text u`. */
const CSI_U = /^\u001b\[(\d+)(?::(\d*))?(?::(\d*))?(?:;(\d*)(?::(\d+))?(?:;([\d:]*))?)?u$/;
/** `CSI 27 ; modifiers ; code ~`. */
const MODIFY_OTHER = /^\u001b\[27;(\d+);(\d+)~$/;
/** A cursor or editing key: `CSI 1 ; modifiers letter` or `CSI number ; modifiers ~`. */
const CURSOR = /^\u001b\[(\d+);(\d+)(?::(\d+))?([A-H~])$/;
/** A key of the keypad in application mode, which blessed switches on: `SS3 letter`, 0x40 after the character of the key. */
const APPLICATION_KEYPAD = /^\u001bO([Mj-y])$/;
/** A control string, such as a terminal's reply about its colours: `OSC … BEL` or `DCS … ST`. */
const CONTROL_STRING = /^\u001b[\]P_^X]/;
/** An event of a released key. */
const RELEASED = "3";

/** Bracketed paste: the markers that a terminal sends around pasted text, and the sequences that switch them on and off. */
export const PASTE_START = `${ESCAPE}[200~`;
export const PASTE_END = `${ESCAPE}[201~`;
export const BRACKETED_PASTE_ON = `${ESCAPE}[?2004h`;
export const BRACKETED_PASTE_OFF = `${ESCAPE}[?2004l`;

interface Key {
  /** The code point of the key without modifiers, or of the character that xterm types with them. */
  readonly code: number;
  readonly shifted?: number | undefined;
  /** The key at the same position of a US keyboard. */
  readonly base?: number | undefined;
  readonly modifiers: number;
  readonly text?: string | undefined;
}

/**
 * Returns the bytes that a terminal without extended keys sends for a key.
 * @returns empty if there is no such key; undefined if the sequence is not an extended key
 */
export function plainKey(sequence: string): string | undefined {
  const keypad = APPLICATION_KEYPAD.exec(sequence)?.[1];
  if (keypad !== undefined) return String.fromCharCode(keypad.charCodeAt(0) - 0x40);
  if (CONTROL_STRING.test(sequence)) return "";
  const [isCursor, number = "", bits, cursorEvent, end = ""] = CURSOR.exec(sequence) ?? [];
  // Not a cursor key: the form of modifyOtherKeys has a number that no cursor key has.
  const [isOther, otherBits, otherCode] = MODIFY_OTHER.exec(sequence) ?? [];
  if (isOther !== undefined) return plainChar({ code: Number(otherCode), modifiers: bitsOf(otherBits) });
  if (isCursor !== undefined) return cursorEvent === RELEASED ? "" : plainCursor(number, bitsOf(bits), end);
  const [isU, code, shifted, base, modifiers, event, text] = CSI_U.exec(sequence) ?? [];
  if (isU === undefined) return undefined;
  if (event === RELEASED) return "";
  return plainChar({
    ...{ code: Number(code), shifted: codeOf(shifted), base: codeOf(base) },
    ...{ modifiers: bitsOf(modifiers), text: textOf(text) },
  });
}

const KEYS = /\u001b(?:\[[\d;:]*[A-H~u]|O[Mj-y]|\r|[\]P_^X][ -~]{0,256}(?:\u0007|\u001b\\))/g;

/** Replaces the extended keys in terminal input, and Alt+Enter, by plain ones; a line feed adds a line. Removes control strings. */
export function withPlainKeys(input: string): string {
  return input.replace(KEYS, (sequence) => {
    const plain = plainKey(sequence) ?? sequence;
    return plain === NEWLINE ? "\n" : plain;
  });
}

function bitsOf(parameter: string | undefined): number {
  return Math.max(0, Number(parameter || 1) - 1);
}

function codeOf(parameter: string | undefined): number | undefined {
  return parameter ? Number(parameter) : undefined;
}

function textOf(parameter: string | undefined): string | undefined {
  return parameter
    ? parameter
        .split(":")
        .map((code) => charOf(Number(code)))
        .join("")
    : undefined;
}

/** Returns the character of a code; empty for an invalid code, and for a control character. */
function charOf(code: number): string {
  const isChar =
    code >= 0x20 && code <= 0x10ffff && !(code >= 0x7f && code < 0xa0) && !(code >= 0xd800 && code < 0xe000);
  return isChar ? String.fromCodePoint(code) : "";
}

/** Left and right move by a word with Ctrl or Alt; Shift counts only with up and down. */
function plainCursor(number: string, modifiers: number, end: string): string {
  if ((modifiers & FOREIGN) !== 0) return "";
  const isWord = (modifiers & (CONTROL | ALT)) !== 0;
  if (end !== "~") {
    if (isWord && (end === "C" || end === "D")) return `${ESCAPE}[1;5${end}`;
    const isShifted = (modifiers & (SHIFT | ALT | CONTROL)) === SHIFT && (end === "A" || end === "B");
    return isShifted ? `${ESCAPE}[1;2${end}` : `${ESCAPE}[${end}`;
  }
  return number === "3" && isWord ? `${ESCAPE}d` : `${ESCAPE}[${number}~`;
}

/** The first code of the keypad in kitty's protocol. */
const KEYPAD_FROM = 57_399;
const KEYPAD = [
  ..."0123456789./*-+",
  ...["\r", "=", ","],
  ...["D", "C", "A", "B", "5~", "6~", "H", "F", "2~", "3~"].map((end) => `${ESCAPE}[${end}`),
];
/** kitty's codes for keys without a character. */
const isFunctional = (code: number): boolean => code >= 0xe000 && code <= 0xf8ff;

function plainChar(key: Key): string {
  const { code, modifiers } = key;
  if ((modifiers & FOREIGN) !== 0) return "";
  const [isShift, isAlt, isControl] = [SHIFT, ALT, CONTROL].map((bit) => (modifiers & bit) !== 0);
  const keypad = KEYPAD[code - KEYPAD_FROM];
  if (code === 13 || keypad === "\r") return isShift || isAlt ? NEWLINE : "\r";
  if (keypad !== undefined) return keypad;
  switch (code) {
    case 9:
      return isShift ? `${ESCAPE}[Z` : "\t";
    case 27:
      return ESCAPE;
    case 8:
    case 127:
      return isControl || isAlt ? `${ESCAPE}${ERASE}` : ERASE;
  }
  if (isFunctional(code)) return "";
  if (isControl) return isAlt ? "" : controlOf(key);
  const char = typedBy(key);
  return isAlt && char !== " " && char !== "" ? `${ESCAPE}${char}` : char;
}

/** Returns the control character of Ctrl with a letter or one of `@[\]^_`; empty for another key. */
function controlOf({ code, base }: Key): string {
  const letter = code < 0x80 ? code : (base ?? code);
  return letter >= 0x40 && letter < 0x7f ? String.fromCharCode(letter & 0x1f) : "";
}

/** Returns the character that the key types. */
function typedBy({ code, shifted, modifiers, text }: Key): string {
  if (text !== undefined) return text;
  const isShift = (modifiers & SHIFT) !== 0;
  const char = charOf(code);
  if (isShift && shifted !== undefined) return charOf(shifted);
  const isUpper = isShift !== ((modifiers & CAPS_LOCK) !== 0);
  // The upper case of a few letters, such as ß, is two letters.
  const upper = char.toUpperCase();
  return isUpper && [...upper].length === 1 ? upper : char;
}
