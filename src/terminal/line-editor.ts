import { displayWidth } from "../text/terminal-text.ts";

/** What typed keys came to. */
export type Typed =
  /** To be written to the terminal, which shows nothing by itself. */
  | { readonly kind: "echo"; readonly text: string }
  | { readonly kind: "line"; readonly line: string }
  | { readonly kind: "escape" }
  | { readonly kind: "shift-tab" }
  | { readonly kind: "key"; readonly key: ViewKey }
  /** It holds no more; what is typed beyond is not taken. Said once of a line. */
  | { readonly kind: "full" }
  /** Ctrl-D where nothing is typed. */
  | { readonly kind: "end" }
  | { readonly kind: "signal"; readonly signal: "SIGINT" | "SIGQUIT" | "SIGTSTP"; readonly dropped: boolean };

/** Keys that choose what is looked at, where there is something to choose. */
export type ViewKey = "up" | "down" | "tasks" | "page-up" | "page-down";

export interface LineEditor {
  /** Takes what the terminal gave. An escape at its end may be the start of a key's name and is kept. */
  push(text: string): readonly Typed[];
  /** Whether an escape is kept: {@link settle} is due when nothing follows soon. */
  readonly isPending: boolean;
  /** Nothing followed: the escape was the key itself. */
  settle(): readonly Typed[];
  /** What is typed and not entered. */
  readonly line: string;
  /** Takes that back. */
  clear(): readonly Typed[];
}

/** Characters of a line; what is typed beyond is not taken. More than a terminal's own limit of 4096. */
export const MAX_LINE = 100_000;
const CTRL_D = "\u0004";

const SIGNALS: Readonly<Record<string, "SIGINT" | "SIGQUIT" | "SIGTSTP">> = {
  "\u0003": "SIGINT",
  "\u001c": "SIGQUIT",
  "\u001a": "SIGTSTP",
};

/** What a terminal puts around pasted text, and what asks it to. */
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

/** A key's name in full: CSI (`ESC [ … letter`), SS3 (`ESC O letter`). */
const KEY_NAME = /^\u001b(?:\[[0-?]*[ -/]*[@-~]|O[ -~])/;
/** The beginning of one. */
const HALF_NAME = /^\u001b(?:\[[0-?]*[ -/]*|O)?$/;

/**
 * What a terminal's own line discipline does (echo, erase, kill, signals), for one that hands on each key: there an escape
 * is heard when it is pressed, which a terminal that waits for a line cannot.
 */
export function lineEditor(): LineEditor {
  let line = "";
  let held = "";
  let pasting = false;
  let isFull = false;
  let parts: Intl.Segmenter | undefined;
  const erase = (count: (graphemes: readonly string[]) => number): Typed[] => {
    // Made at its first need: what a segmenter knows of all languages has no place in an idle agent's memory.
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
        // Several lines that are pasted are one message, which the key then sends.
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
        // The other control characters would move the cursor that the agent writes at.
        return char < " " ? [] : add(char);
    }
  };
  const add = (char: string): Typed[] => {
    if (line.length >= MAX_LINE) {
      const isSaid = isFull;
      isFull = true;
      return isSaid ? [] : [{ kind: "full" }];
    }
    isFull = false;
    line += char;
    return [{ kind: "echo", text: char }];
  };
  const escaped = (): Typed[] => [{ kind: "escape" }];
  const named = (name: string): Typed[] => {
    if (name === PASTE || name === PASTED) pasting = name === PASTE;
    if (pasting) return [];
    if (name === SHIFT_TAB) return [{ kind: "shift-tab" }];
    const view = VIEW_KEYS[name];
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
        const name = KEY_NAME.exec(rest)?.[0];
        if (name !== undefined) {
          typed.push(...named(name));
          rest = rest.slice(name.length);
        } else if (HALF_NAME.test(rest)) {
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
      // Of half a name nothing but the escape was meant: no key sends the rest of it later.
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

/** What is shown is written at once and not by the letter. */
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
