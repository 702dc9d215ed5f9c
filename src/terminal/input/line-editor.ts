import { steadyNow } from "../../os/clock.ts";
import { textStart } from "../../text/characters/cut-text.ts";
import type { History } from "./history.ts";
import {
  type EditKey,
  keyDecoder,
  type PaneKey,
  type Pressed,
  type TypedSignal,
  type ViewKey,
} from "./key-decoder.ts";
import { type Completer, type Suggestions, suggestionsFor } from "./suggestions.ts";
import { textBuffer } from "./text-buffer.ts";

/** The result of typed keys. */
export type Typed =
  /** The line, its cursor or its suggestions have changed. */
  | { readonly kind: "changed" }
  /** @param begun when its first character came, in milliseconds of the steady clock */
  | { readonly kind: "line"; readonly line: string; readonly begun: number }
  /** One key that answers a question, pressed in an empty line. */
  | { readonly kind: "answer"; readonly char: string }
  | { readonly kind: "escape" }
  | { readonly kind: "shift-tab" }
  | { readonly kind: "key"; readonly key: ViewKey }
  | { readonly kind: "pane"; readonly key: PaneKey }
  /** The line is full and ignores further characters; reported once for each line. */
  | { readonly kind: "full" }
  /** Ctrl-D in an empty line. */
  | { readonly kind: "end" }
  | { readonly kind: "signal"; readonly signal: TypedSignal; readonly dropped: boolean };

/** The typed line as the input rows show it. */
export interface EditedLine {
  readonly text: string;
  readonly cursor: number;
  readonly suggestions: Suggestions | undefined;
  /** The typed text of a search in the history (Ctrl-R). */
  readonly search: string | undefined;
}

export interface LineEditor {
  /**
   * Processes terminal input.
   * @param at when it came, in milliseconds of the steady clock
   */
  push(text: string, at?: number): readonly Typed[];
  /** Whether an escape is held: call {@link settle} if no input follows soon. */
  readonly isPending: boolean;
  /** Reports the held escape as the Esc key, because no input followed. */
  settle(): readonly Typed[];
  readonly edited: EditedLine;
  /** Erases the line. */
  clear(): void;
  /** Sets the parts that need the agent; without them, there is no history and no completion. */
  connect(helpers: EditorHelpers): void;
}

export interface EditorHelpers {
  readonly history?: History;
  readonly complete?: Completer;
  /** Whether this key, pressed in an empty line, answers an open question. */
  answers?(char: string): boolean;
}

/** Maximum characters of a line; a terminal in line mode allows only 4096. */
export const MAX_LINE = 100_000;
/** At the end of a line: the next Enter adds a line instead of sending. */
const CONTINUES = "\\";

/**
 * Edits the line of a terminal in raw mode: cursor keys, words, several lines, history, completion.
 * Echoes nothing: {@link LineEditor.edited} is drawn after each change.
 */
export function lineEditor(): LineEditor {
  const buffer = textBuffer();
  const decoder = keyDecoder();
  let helpers: EditorHelpers = {};
  let isFull = false;
  let now = 0;
  let begun = 0;
  let suggestions: Suggestions | undefined;
  /** Index of the shown entry of the history, counted from the newest; undefined for the typed line. */
  let recalled: number | undefined;
  let draft = "";
  let search: { readonly query: string; readonly at: number } | undefined;

  const changed: readonly Typed[] = [{ kind: "changed" }];
  const edited = (): readonly Typed[] => {
    recalled = undefined;
    suggestions = suggestionsFor(helpers.complete, buffer);
    return changed;
  };
  const insert = (piece: string): readonly Typed[] => {
    const fitting = textStart(piece, MAX_LINE - buffer.text.length);
    const isReported = isFull;
    isFull = fitting !== piece;
    const full: readonly Typed[] = isFull && !isReported ? [{ kind: "full" }] : [];
    if (fitting === "") return full;
    if (buffer.text === "") begun = now;
    buffer.insert(fitting);
    return [...edited(), ...full];
  };
  const drop = (): void => {
    buffer.set("");
    suggestions = undefined;
    recalled = undefined;
    search = undefined;
    isFull = false;
  };
  const enter = (): readonly Typed[] => {
    const isEscaped = buffer.text.slice(0, buffer.cursor).endsWith(CONTINUES);
    if (isEscaped && search === undefined) {
      buffer.erase("left");
      return insert("\n");
    }
    const line = buffer.text;
    const at = line === "" ? now : begun;
    drop();
    if (line.trim() !== "") helpers.history?.add(line);
    return [...changed, { kind: "line", line, begun: at }];
  };
  const recall = (step: 1 | -1): readonly Typed[] => {
    const entries = helpers.history?.entries() ?? [];
    const next = (recalled ?? -1) + step;
    if (next < -1 || next >= entries.length) return [];
    if (recalled === undefined) draft = buffer.text;
    // The line is new: it answers nothing that was asked before.
    begun = now;
    recalled = next === -1 ? undefined : next;
    buffer.set(next === -1 ? draft : (entries[entries.length - 1 - next] ?? ""));
    suggestions = undefined;
    return changed;
  };
  const find = (query: string, from: number): readonly Typed[] => {
    const entries = helpers.history?.entries() ?? [];
    const at = query === "" ? -1 : entries.findLastIndex((entry, i) => i <= from && entry.includes(query));
    search = { query, at: at === -1 ? from : at };
    if (at !== -1) {
      const entry = entries[at] ?? "";
      buffer.set(entry, entry.indexOf(query));
      begun = now;
    }
    return changed;
  };
  const newest = (): number => (helpers.history?.entries().length ?? 0) - 1;
  const accept = (): readonly Typed[] => {
    const chosen = suggestions?.items[suggestions.selected];
    if (suggestions === undefined || chosen === undefined) return [];
    const { text, cursor } = buffer;
    buffer.set(
      text.slice(0, suggestions.from) + chosen.insert + text.slice(cursor),
      suggestions.from + chosen.insert.length,
    );
    return edited();
  };
  const select = (step: 1 | -1): readonly Typed[] => {
    if (suggestions === undefined) return [];
    const count = suggestions.items.length;
    suggestions = { ...suggestions, selected: (suggestions.selected + step + count) % count };
    return changed;
  };
  const vertical = (step: 1 | -1): readonly Typed[] => {
    if (suggestions !== undefined) return select(step);
    if (recalled === undefined && buffer.moveLine(step)) return changed;
    return recall(step === -1 ? 1 : -1);
  };
  const moved = (to: Parameters<typeof buffer.move>[0]): readonly Typed[] => {
    buffer.move(to);
    suggestions = undefined;
    return changed;
  };
  const erased = (to: Parameters<typeof buffer.erase>[0]): readonly Typed[] => {
    buffer.erase(to);
    return edited();
  };
  const edit = (key: EditKey): readonly Typed[] => {
    switch (key) {
      case "up":
        return vertical(-1);
      case "down":
        return vertical(1);
      case "erase":
        return erased("left");
      case "delete":
        return erased("right");
      case "erase-word":
        return erased("word-left");
      case "delete-word":
        return erased("word-right");
      case "erase-to-start":
        return erased("home");
      case "erase-to-end":
        return erased("end");
      case "yank":
        if (buffer.text === "") begun = now;
        buffer.yank();
        return edited();
      case "newline":
        return insert("\n");
      case "search":
        return find("", newest());
      case "complete":
        return accept();
      default:
        return moved(key);
    }
  };
  /** A key during a search in the history; undefined ends the search and gives the key its usual meaning. */
  const searchKey = (pressed: Pressed): readonly Typed[] | undefined => {
    if (search === undefined) return undefined;
    if (pressed.kind === "text") return find(search.query + pressed.text, newest());
    if (pressed.kind === "edit" && pressed.key === "erase") return find(search.query.slice(0, -1), newest());
    if (pressed.kind === "edit" && pressed.key === "search") return find(search.query, search.at - 1);
    search = undefined;
    return pressed.kind === "escape" ? changed : undefined;
  };
  const press = (pressed: Pressed, isAlone: boolean): readonly Typed[] => {
    const found = searchKey(pressed);
    if (found !== undefined) return found;
    switch (pressed.kind) {
      case "text": {
        const mayAnswer = isAlone && !pressed.pasted && buffer.text === "";
        return mayAnswer && helpers.answers?.(pressed.text)
          ? [{ kind: "answer", char: pressed.text }]
          : insert(pressed.text);
      }
      case "edit":
        return edit(pressed.key);
      case "enter":
        return enter();
      case "signal": {
        const dropped = buffer.text !== "";
        drop();
        return [...changed, { kind: "signal", signal: pressed.signal, dropped }];
      }
      case "escape": {
        if (suggestions === undefined) return [{ kind: "escape" }];
        suggestions = undefined;
        return changed;
      }
      case "end-of-input":
        return buffer.text === "" ? [{ kind: "end" }] : erased("right");
      case "view":
        return [{ kind: "key", key: pressed.key }];
      case "pane":
        return [pressed];
      case "shift-tab":
        return [{ kind: "shift-tab" }];
    }
  };
  return {
    push(text, at = steadyNow()) {
      now = at;
      const keys = decoder.push(text);
      return withoutRepeats(keys.flatMap((key) => press(key, keys.length === 1)));
    },
    get isPending() {
      return decoder.isPending;
    },
    settle: () => decoder.settle().flatMap((key) => press(key, true)),
    get edited() {
      return { text: buffer.text, cursor: buffer.cursor, suggestions, search: search?.query };
    },
    clear: drop,
    connect(next) {
      helpers = { ...helpers, ...next };
    },
  };
}

/** Keeps only the last of consecutive changes, because one drawing shows them all. */
function withoutRepeats(typed: readonly Typed[]): Typed[] {
  return typed.filter((one, i) => one.kind !== "changed" || typed[i + 1]?.kind !== "changed");
}
