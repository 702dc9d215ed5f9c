/**
 * Reduces recorded output to drawing: text, colours, cursor moves, erasing, scrolling, the alternate screen. A recording may come
 * from anywhere, and a terminal obeys its output. Leaves out the clipboard (OSC 52), titles, colours of the palette, files and
 * notifications, everything that makes a terminal answer or send input (device attributes and status, DECRQSS, XTGETTCAP, ENQ, mouse,
 * focus and paste modes), window operations, printing, and clearing the scrollback. A sequence may be split between two pieces.
 */
export interface OutputFilter {
  push(text: string): string;
}

/** Maximum characters of a control sequence; a longer one is left out. */
const MAX_SEQUENCE = 128;
/** Maximum characters of a hyperlink. */
const MAX_LINK = 2_048;

/** Control sequences without a prefix that only draw: numbers, then the final byte. */
const DRAWING = /^[\d;:]*[@A-HJKLMPSTXZ`adefmrsu]$/;
/** REP: its count is bounded, since 10 bytes could otherwise print without end. */
const REPEATING = /^(\d{0,4})b$/;
/** Clearing the scrollback, mouse highlighting, and left and right margins look like drawing. */
const NOT_DRAWING = /^(?:0*3J|[\d:]*;[\d;:]*[TSs])$/;
/** Cursor style, soft reset. */
const STYLE = /^(?:[0-6]? q|!p)$/;
/** Origin, wrapping, blinking and visible cursor, alternate screens, synchronized output. */
const PRIVATE_MODES = new Set(["5", "6", "7", "12", "25", "47", "1047", "1048", "1049", "2026"]);
/** Insert, line feed. */
const MODES = new Set(["4", "20"]);
/** Save, restore, index, next line, tab stop, reverse index; character sets for line drawing. */
const ESCAPES = /^(?:[78DEHM]|[()*+][AB0])$/;

/** The sequences that reset the modes that {@link outputFilter} lets through. */
export const RESET_OUTPUT =
  "\x1b[?2026l\x1b[?1049l\x1b[?1047l\x1b[!p\x1b[r\x1b[4l\x1b[20l\x1b[?5l\x1b[?6l\x1b[?7h\x1b[?25h\x1b[0 q\x1b(B\x1b)B\x0f\x1b[0m\x1b]8;;\x1b\\";
/** A full reset that keeps the scrollback. */
const CLEAR = "\x1b[!p\x1b[r\x1b[0m\x1b[?1049l\x1b[2J\x1b[H";

type State = "text" | "escape" | "csi" | "osc" | "string";

export function outputFilter(): OutputFilter {
  let state: State = "text";
  let held = "";
  /** The last character of a string was ESC; a backslash then ends the string. */
  let isEscaped = false;
  const begin = (next: State): string => {
    state = next;
    held = "";
    isEscaped = false;
    return "";
  };
  const finish = (result: string): string => {
    begin("text");
    return result;
  };
  const inText = (char: string): string => {
    if (char === "\x1b") return begin("escape");
    const code = char.charCodeAt(0);
    // C1 controls are escapes in one character.
    if (code >= 0x80 && code <= 0x9f) return startEscape(String.fromCharCode(code - 0x40));
    if (code < 0x20) return DRAWN_CONTROLS.includes(char) ? char : "";
    return code === 0x7f || UNSEEN.test(char) ? "" : char;
  };
  const startEscape = (char: string): string => {
    if (char === "[") return begin("csi");
    if (char === "]") return begin("osc");
    if ("PX^_k".includes(char)) return begin("string");
    if (char === "c") return finish(CLEAR);
    return finish(ESCAPES.test(char) ? `\x1b${char}` : "");
  };
  const inEscape = (char: string): string => {
    if (held === "" && char >= " " && char <= "/") {
      held = char;
      return "";
    }
    if (held === "") return startEscape(char);
    const whole = held + char;
    return finish(ESCAPES.test(whole) ? `\x1b${whole}` : "");
  };
  const inCsi = (char: string): string => {
    if (held.length < MAX_SEQUENCE) held += char;
    if (char >= " " && char <= "?") return "";
    return finish(char >= "@" && char <= "~" ? drawn(held) : "");
  };
  const inString = (char: string): string => {
    const isEnd = char === "\x07" || char === "\x9c" || (isEscaped && char === "\\");
    if (isEnd) return finish(state === "osc" ? link(held) : "");
    // An escape ends the string, and begins another sequence.
    if (isEscaped) {
      begin("escape");
      return step(char);
    }
    isEscaped = char === "\x1b";
    if (!isEscaped && held.length <= MAX_LINK) held += char;
    return "";
  };
  const steps: Readonly<Record<State, (char: string) => string>> = {
    text: inText,
    escape: inEscape,
    csi: inCsi,
    osc: inString,
    string: inString,
  };
  const step = (char: string): string => {
    // CAN and SUB cancel every sequence.
    if (char === "\x18" || char === "\x1a") return finish("");
    if (char === "\x1b" && (state === "escape" || state === "csi")) return begin("escape");
    return steps[state](char);
  };
  return {
    push: (text) => (state === "text" && PLAIN.test(text) ? text : [...text].map(step).join("")),
  };
}

const PLAIN = /^[\x20-\x7e\r\n\t]*$/;
/** Backspace, tab, line ends, shift out and in (character sets). Not BEL: a jump would ring it a hundred times. */
const DRAWN_CONTROLS = "\b\t\n\v\f\r\x0e\x0f";
/** Controls of the writing direction, which can disguise text. */
const UNSEEN = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** Returns a control sequence if it only draws. @param body after `ESC [` */
function drawn(body: string): string {
  if (body.length >= MAX_SEQUENCE) return "";
  const repeat = REPEATING.exec(body);
  if (repeat !== null) return `\x1b[${body}`;
  if (NOT_DRAWING.test(body)) return "";
  if (DRAWING.test(body) || STYLE.test(body)) return `\x1b[${body}`;
  const [, isPrivate, list = "", final = ""] = /^(\??)([\d;]*)([hl])$/.exec(body) ?? [];
  if (final === "") return "";
  const known = isPrivate ? PRIVATE_MODES : MODES;
  const modes = list.split(";").filter((mode) => known.has(mode));
  return modes.length === 0 ? "" : `\x1b[${isPrivate}${modes.join(";")}${final}`;
}

/** Returns a hyperlink to a web page, or its end; nothing for any other command to the operating system. */
function link(body: string): string {
  const [, uri] = /^8;[^;]*;(.*)$/s.exec(body) ?? [];
  if (uri === undefined) return "";
  if (uri !== "" && !/^https?:\/\/[\x21-\x7e]{1,2000}$/.test(uri)) return "\x1b]8;;\x1b\\";
  return `\x1b]8;;${uri}\x1b\\`;
}
