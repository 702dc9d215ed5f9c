import { PASTE_END, PASTE_START, plainKey } from "../../text/extended-keys.ts";

/** Keys that edit the line or move in it. */
export type EditKey =
  | "left"
  | "right"
  | "word-left"
  | "word-right"
  | "up"
  | "down"
  | "home"
  | "end"
  | "erase"
  | "delete"
  | "erase-word"
  | "delete-word"
  | "erase-to-start"
  | "erase-to-end"
  | "yank"
  | "newline"
  | "search"
  | "cancel"
  | "complete";

/** Keys that select what a screen with several views shows. */
export type ViewKey = "up" | "down" | "tasks" | "page-up" | "page-down";

/** Keys of the pane: expand a result, and redraw the pane. */
export type PaneKey = "expand" | "redraw";

export type TypedSignal = "SIGINT" | "SIGQUIT" | "SIGTSTP";

/** A part of terminal input. */
export type Pressed =
  | { readonly kind: "text"; readonly text: string; readonly pasted: boolean }
  | { readonly kind: "edit"; readonly key: EditKey }
  | { readonly kind: "view"; readonly key: ViewKey }
  | { readonly kind: "pane"; readonly key: PaneKey }
  | { readonly kind: "signal"; readonly signal: TypedSignal }
  | { readonly kind: "enter" | "escape" | "shift-tab" | "end-of-input" };

export interface KeyDecoder {
  /** Decodes terminal input. An escape at its end may begin a key sequence and is held. Pasted text comes in one piece. */
  push(text: string): readonly Pressed[];
  /** Whether an escape is held that may be the Esc key: call {@link settle} if no input follows soon. */
  readonly isPending: boolean;
  /** No input followed: decodes the held escape as the Esc key. */
  settle(): readonly Pressed[];
}

/** Milliseconds to wait for the rest of a key sequence; a person presses no second key so soon. */
export const ESCAPE_MS = 50;

const edit = (key: EditKey): Pressed => ({ kind: "edit", key });
const view = (key: ViewKey): Pressed => ({ kind: "view", key });

const CONTROLS: Readonly<Record<string, Pressed>> = {
  "\u0001": edit("home"),
  "\u0002": edit("left"),
  "\u0003": { kind: "signal", signal: "SIGINT" },
  "\u0004": { kind: "end-of-input" },
  "\u0005": edit("end"),
  "\u0006": edit("right"),
  "\u0007": edit("cancel"),
  "\b": edit("erase"),
  "\t": edit("complete"),
  // Ctrl-J: Enter sends a carriage return.
  "\n": { kind: "enter" },
  "\u000b": edit("erase-to-end"),
  "\u000c": { kind: "pane", key: "redraw" },
  "\r": { kind: "enter" },
  "\u000e": edit("down"),
  "\u000f": { kind: "pane", key: "expand" },
  "\u0010": edit("up"),
  "\u0012": edit("search"),
  "\u0014": view("tasks"),
  "\u0015": edit("erase-to-start"),
  "\u0017": edit("erase-word"),
  "\u0019": edit("yank"),
  "\u001a": { kind: "signal", signal: "SIGTSTP" },
  "\u001c": { kind: "signal", signal: "SIGQUIT" },
  "\u007f": edit("erase"),
};

const pasted = (text: string): Pressed => ({ kind: "text", text, pasted: true });

/** The control characters that a paste keeps. Its lines form one message, which a typed Enter sends. */
const PASTED: Readonly<Record<string, Pressed>> = {
  "\t": pasted("\t"),
  "\n": pasted("\n"),
  "\r": pasted("\n"),
  "\r\n": pasted("\n"),
};

/** Sequences of xterm, and those of rxvt and of the Linux console where they differ. */
const SEQUENCES: Readonly<Record<string, Pressed>> = {
  "\u001b[A": edit("up"),
  "\u001b[B": edit("down"),
  "\u001b[C": edit("right"),
  "\u001b[D": edit("left"),
  "\u001bOA": edit("up"),
  "\u001bOB": edit("down"),
  "\u001bOC": edit("right"),
  "\u001bOD": edit("left"),
  "\u001b[1;3C": edit("word-right"),
  "\u001b[1;3D": edit("word-left"),
  "\u001b[1;5C": edit("word-right"),
  "\u001b[1;5D": edit("word-left"),
  "\u001b[1;9C": edit("word-right"),
  "\u001b[1;9D": edit("word-left"),
  "\u001bOc": edit("word-right"),
  "\u001bOd": edit("word-left"),
  "\u001b[H": edit("home"),
  "\u001b[F": edit("end"),
  "\u001bOH": edit("home"),
  "\u001bOF": edit("end"),
  "\u001b[1~": edit("home"),
  "\u001b[4~": edit("end"),
  "\u001b[7~": edit("home"),
  "\u001b[8~": edit("end"),
  "\u001b[3~": edit("delete"),
  "\u001b[1;2A": view("up"),
  "\u001b[1;2B": view("down"),
  "\u001b[5~": view("page-up"),
  "\u001b[6~": view("page-down"),
  "\u001b[Z": { kind: "shift-tab" },
};

/** Keys pressed with Alt, which sends an escape before them. */
const WITH_ALT: Readonly<Record<string, Pressed>> = {
  "\r": edit("newline"),
  "\n": edit("newline"),
  b: edit("word-left"),
  f: edit("word-right"),
  d: edit("delete-word"),
  "\u007f": edit("erase-word"),
  "\b": edit("erase-word"),
};

/*
 * `readline.emitKeypressEvents` is not a replacement. It knows a fixed list of keys and passes the rest of any other sequence on
 * as characters: a terminal's reply (`ESC [ ? 1 ; 2 c`) or a pasted colour would end up in the line. It also waits without
 * a limit for the rest of `ESC [`, which Alt-[ sends.
 */

/** Text without a key in it. */
const PLAIN = /^[^\u0000-\u001f\u007f]+/;
/** A complete key sequence, CSI (`ESC [ … letter`) or SS3 (`ESC O letter`), or a control string, which is not a key. */
const KEY_SEQUENCE = /^\u001b(?:\[[0-?]*[ -/]*[@-~]|O[ -~]|[\]P_^X][ -~]{0,256}(?:\u0007|\u001b\\))/;
/** Left or Right with Alt, from terminals that send an escape before the sequence of the key. */
const ALT_ARROW = /^\u001b\u001b[[O]([CD])/;
/** The beginning of a key sequence. */
const PARTIAL_SEQUENCE = /^\u001b(?:\[[0-?]*[ -/]*|O)?$/;

/** Decodes the input of a terminal in raw mode. Only raw mode reports the Esc key when it is pressed. */
export function keyDecoder(): KeyDecoder {
  let held = "";
  let pasting = false;
  const controlKey = (char: string): readonly Pressed[] => {
    const key = pasting ? PASTED[char] : CONTROLS[char];
    return key === undefined ? [] : [key];
  };
  const sequenceKey = (sequence: string): Pressed[] => {
    if (sequence === PASTE_START || sequence === PASTE_END) {
      pasting = sequence === PASTE_START;
      return [];
    }
    if (pasting) return [];
    const key = SEQUENCES[sequence];
    return key === undefined ? extendedKey(sequence) : [key];
  };
  /** Decodes a sequence that begins with an escape, and returns its length. */
  const afterEscape = (text: string): { readonly pressed: readonly Pressed[]; readonly length: number } => {
    const sequence = KEY_SEQUENCE.exec(text)?.[0];
    if (sequence !== undefined) return { pressed: sequenceKey(sequence), length: sequence.length };
    // Pasted text presses no key.
    if (pasting) return { pressed: [], length: 1 };
    const withAlt = WITH_ALT[text.charAt(1)];
    if (withAlt !== undefined) return { pressed: [withAlt], length: 2 };
    const [altArrow = "", arrow] = ALT_ARROW.exec(text) ?? [];
    if (altArrow !== "")
      return { pressed: [edit(arrow === "C" ? "word-right" : "word-left")], length: altArrow.length };
    return { pressed: [{ kind: "escape" }], length: 1 };
  };
  return {
    push(text) {
      const keys: Pressed[] = [];
      let rest = held + text;
      held = "";
      while (rest !== "") {
        const plain = PLAIN.exec(rest)?.[0];
        if (plain !== undefined) {
          append(keys, [{ kind: "text", text: plain, pasted: pasting }]);
          rest = rest.slice(plain.length);
        } else if (PARTIAL_SEQUENCE.test(rest) || (pasting && rest === "\r")) {
          held = rest;
          rest = "";
        } else if (rest.startsWith("\u001b")) {
          const { pressed, length } = afterEscape(rest);
          append(keys, pressed);
          rest = rest.slice(length);
        } else {
          const char = pasting && rest.startsWith("\r\n") ? "\r\n" : rest.charAt(0);
          append(keys, controlKey(char));
          rest = rest.slice(char.length);
        }
      }
      return keys;
    },
    get isPending() {
      // In a paste, the held input begins the end marker or a line end, however late the rest arrives.
      return held !== "" && !pasting;
    },
    settle() {
      // Keys send their sequence at once, so a partial one is the Esc key; the rest of it is dropped.
      const was = held;
      held = "";
      return was === "" ? [] : [{ kind: "escape" }];
    },
  };
}

/** Appends decoded keys. Joins pasted text: the editor looks at the whole line for each piece of it. */
function append(keys: Pressed[], more: readonly Pressed[]): void {
  for (const key of more) {
    const last = keys.at(-1);
    if (key.kind === "text" && key.pasted && last?.kind === "text" && last.pasted)
      keys[keys.length - 1] = { ...last, text: last.text + key.text };
    else keys.push(key);
  }
}

/** Decodes a key of a terminal that reports every modifier; empty for any other sequence. */
function extendedKey(sequence: string): Pressed[] {
  const plain = plainKey(sequence) ?? "";
  if (plain === "") return [];
  if (plain === "\u001b") return [{ kind: "escape" }];
  const key = SEQUENCES[plain] ?? CONTROLS[plain];
  if (key !== undefined) return [key];
  if (!plain.startsWith("\u001b"))
    return isControl(plain) ? [] : [{ kind: "text", text: plain, pasted: false }];
  // Alt with another key types nothing, and is not Esc.
  const withAlt = WITH_ALT[plain.slice(1)];
  return withAlt === undefined ? [] : [withAlt];
}

function isControl(char: string): boolean {
  return char < " " || char === "\u007f";
}
