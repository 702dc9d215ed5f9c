import { displayWidth } from "../text/cell-width.ts";
/** The result of typed keys. */
export type Typed =
  /** Text to write to the terminal, which does not echo. */
  | { readonly kind: "echo"; readonly text: string }
  | { readonly kind: "line"; readonly line: string }
  | { readonly kind: "escape" }
  | { readonly kind: "shift-tab" }
  | { readonly kind: "key"; readonly key: ViewKey }
  /** The line is full and ignores further characters; reported once for each line. */
  | { readonly kind: "full" }
  /** Ctrl-D in an empty line. */
  | { readonly kind: "end" }
  | { readonly kind: "signal"; readonly signal: "SIGINT" | "SIGQUIT" | "SIGTSTP"; readonly dropped: boolean };

/** Keys that select what a screen with several views shows. */
export type ViewKey = "up" | "down" | "tasks" | "page-up" | "page-down";

export interface LineEditor {
  /** Processes terminal input. An escape at its end may begin a key sequence and is held. */
  push(text: string): readonly Typed[];
  /** Whether an escape is held: call {@link settle} if no input follows soon. */
  readonly isPending: boolean;
  /** No input followed: reports the held escape as the Esc key. */
  settle(): readonly Typed[];
  /** The line that is typed and not entered. */
  readonly line: string;
  /** Erases that line. */
  clear(): readonly Typed[];
}

/** Maximum characters of a line; a terminal in line mode allows only 4096. */
export const MAX_LINE = 100_000;
const CTRL_D = "\u0004";

const SIGNALS: Readonly<Record<string, "SIGINT" | "SIGQUIT" | "SIGTSTP">> = {
  "\u0003": "SIGINT",
  "\u001c": "SIGQUIT",
  "\u001a": "SIGTSTP",
};

/** Sequences that a terminal sends around pasted text, and those that switch this on and off. */
const PASTE = "\u001b[200~";
const PASTED = "\u001b[201~";
export const PASTES_ON = "\u001b[?2004h";
export const PASTES_OFF = "\u001b[?2004l";

const SHIFT_TAB = "\u001b[Z";
const VIEW_KEYS: Readonly<Record<string, ViewKey>> = {
  "\u0014": "tasks",
  "\u001b[1;2A": "up",
  "\u001b[1;2B": "down",
  "\u001b[5~": "page-up",
  "\u001b[6~": "page-down",
};

/*
 * `readline.emitKeypressEvents` is no replacement. It knows a fixed list of keys and passes the rest of any other sequence on
 * as characters: a terminal's reply (`ESC [ ? 1 ; 2 c`) or a pasted colour would end up in the line. It also waits without
 * a limit for the rest of `ESC [`, which Alt-[ sends.
 */

/** A complete key sequence: CSI (`ESC [ … letter`) or SS3 (`ESC O letter`). */
const KEY_SEQUENCE = /^\u001b(?:\[[0-?]*[ -/]*[@-~]|O[ -~])/;
/** The beginning of a key sequence. */
const PARTIAL_SEQUENCE = /^\u001b(?:\[[0-?]*[ -/]*|O)?$/;

/**
 * Does the work of a terminal's line discipline (echo, erase, kill, signals) for a terminal in raw mode. Only raw mode
 * reports the Esc key when it is pressed.
 */
export function lineEditor(): LineEditor {
  let line = "";
  let held = "";
  let pasting = false;
  let isFull = false;
  let parts: Intl.Segmenter | undefined;
  const erase = (count: (graphemes: readonly string[]) => number): Typed[] => {
    // Created on first use: a segmenter's language data takes memory that an idle agent does not need.
    parts ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
    const graphemes = [...parts.segment(line)].map(({ segment }) => segment);
    const gone = graphemes.splice(graphemes.length - count(graphemes));
    line = graphemes.join("");
    const columns = displayWidth(gone.join(""));
    return columns === 0 ? [] : [{ kind: "echo", text: "\b \b".repeat(columns) }];
  };
  const key = (char: string): Typed[] => {
    const view = VIEW_KEYS[char];
    if (view !== undefined && !pasting) return [{ kind: "key", key: view }];
    const signal = SIGNALS[char];
    if (signal !== undefined && !pasting) {
      const dropped = line !== "";
      line = "";
      return [
        { kind: "echo", text: "\n" },
        { kind: "signal", signal, dropped },
      ];
    }
    if (char === CTRL_D && line === "" && !pasting) return [{ kind: "end" }];
    switch (char) {
      case "\r":
      case "\n": {
        // Pasted lines form one message, which a typed Enter sends.
        if (pasting) return add("\n");
        const typed = line;
        line = "";
        return [
          { kind: "echo", text: "\n" },
          { kind: "line", line: typed },
        ];
      }
      case "\u007f":
      case "\b":
        return erase((graphemes) => Math.min(1, graphemes.length));
      case "\u0015":
        return erase((graphemes) => graphemes.length);
      case "\u0017":
        return erase(lastWord);
      default:
        // Other control characters would move the cursor, at which the agent writes.
        return char < " " ? [] : add(char);
    }
  };
  const add = (char: string): Typed[] => {
    if (line.length >= MAX_LINE) {
      const isReported = isFull;
      isFull = true;
      return isReported ? [] : [{ kind: "full" }];
    }
    isFull = false;
    line += char;
    return [{ kind: "echo", text: char }];
  };
  const escaped = (): Typed[] => [{ kind: "escape" }];
  const sequenceKey = (sequence: string): Typed[] => {
    if (sequence === PASTE || sequence === PASTED) pasting = sequence === PASTE;
    if (pasting) return [];
    if (sequence === SHIFT_TAB) return [{ kind: "shift-tab" }];
    const view = VIEW_KEYS[sequence];
    return view === undefined ? [] : [{ kind: "key", key: view }];
  };
  return {
    push(text) {
      const typed: Typed[] = [];
      let rest = held + text;
      held = "";
      while (rest !== "") {
        if (!rest.startsWith("\u001b")) {
          const char = String.fromCodePoint(rest.codePointAt(0) ?? 0);
          typed.push(...key(char));
          rest = rest.slice(char.length);
          continue;
        }
        const sequence = KEY_SEQUENCE.exec(rest)?.[0];
        if (sequence !== undefined) {
          typed.push(...sequenceKey(sequence));
          rest = rest.slice(sequence.length);
        } else if (PARTIAL_SEQUENCE.test(rest)) {
          held = rest;
          rest = "";
        } else {
          typed.push(...escaped());
          rest = rest.slice(1);
        }
      }
      return joined(typed);
    },
    get isPending() {
      return held !== "";
    },
    get line() {
      return line;
    },
    clear: () => erase((graphemes) => graphemes.length),
    settle() {
      // Keys send their sequence at once, so a partial one is the Esc key; the rest of it is dropped.
      const was = held;
      held = "";
      return was === "" ? [] : escaped();
    },
  };
}

function lastWord(graphemes: readonly string[]): number {
  const kept = graphemes.join("").replace(/\S+\s*$/, "");
  let count = graphemes.length;
  for (let length = 0; count > 0 && length < kept.length; count -= 1) {
    length += graphemes[graphemes.length - count]?.length ?? 0;
  }
  return count;
}

/** Joins adjacent echoes, so that each is one write and not one for each character. */
function joined(typed: readonly Typed[]): Typed[] {
  const all: Typed[] = [];
  for (const one of typed) {
    const last = all.at(-1);
    if (one.kind === "echo" && last?.kind === "echo")
      all[all.length - 1] = { ...last, text: last.text + one.text };
    else all.push(one);
  }
  return all;
}
