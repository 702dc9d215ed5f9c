import { steadyNow } from "../../os/clock.ts";
import { textStart } from "../../text/characters/cut-text.ts";
import { borderBefore } from "../../text/characters/graphemes.ts";
import { type TextBuffer, textBuffer } from "../../text/characters/text-buffer.ts";
import type { History } from "./history.ts";
import { historyWalk } from "./history-walk.ts";
import { type EditKey, ESCAPE_MS, keyDecoder, type Pressed } from "./key-decoder.ts";
import {
  type Completer,
  chosenByEnter,
  nextSelected,
  type Suggestions,
  suggestionsFor,
} from "./suggestions.ts";
import { type EditedLine, type Typed, withoutRepeats } from "./typed.ts";

export interface LineEditor {
  /**
   * Processes terminal input.
   * @param at when it came, in milliseconds of the steady clock
   */
  push(text: string, at?: number): readonly Typed[];
  /** Milliseconds after which to call {@link settle} if no input follows: a key may still be part of more. */
  readonly settleMs: number | undefined;
  /** No input followed: reports a held escape as the Esc key, or a key as an answer. */
  settle(): readonly Typed[];
  readonly edited: EditedLine;
  /** When the first character of the line came, in milliseconds of the steady clock. */
  readonly begun: number;
  /** Erases the line. */
  clear(): void;
  /** Sets the parts that need the agent; without them, there is no history and no completion. */
  connect(helpers: EditorHelpers): void;
}

export interface EditorHelpers {
  readonly history?: History;
  readonly complete?: Completer;
  /** Called when the suggestions have changed without a key. */
  changed?(): void;
  /** Returns the id of the open question that this key answers, pressed in an empty line. */
  answers?(char: string): string | undefined;
}

/** Maximum characters of a line; a terminal in line mode allows only 4096. */
export const MAX_LINE = 100_000;
/** At the end of a line: the next Enter adds a line instead of sending. */
const CONTINUES = "\\";
/** How far each erasing key erases. */
const ERASED_TO: Partial<Record<EditKey, Parameters<TextBuffer["erase"]>[0]>> = {
  erase: "left",
  delete: "right",
  "erase-word": "word-left",
  "delete-word": "word-right",
  "erase-to-start": "home",
  "erase-to-end": "end",
};
/** Milliseconds without another key after which one key is an answer, and not the first letter of a sentence. */
export const ANSWER_MS = 500;

/**
 * Edits the line of a terminal in raw mode: cursor keys, words, several lines, history, completion.
 * Echoes nothing: {@link LineEditor.edited} is drawn after each change.
 */
export function lineEditor(): LineEditor {
  const buffer = textBuffer();
  const decoder = keyDecoder();
  let helpers: EditorHelpers = {};
  const walk = historyWalk(() => helpers.history);
  let isFull = false;
  let now = 0;
  let begun = 0;
  let suggestions: Suggestions | undefined;
  /** The only typed character, which is an answer unless another key follows. */
  let answer: { readonly char: string; readonly question: string } | undefined;

  const changed: readonly Typed[] = [{ kind: "changed" }];
  const suggest = (): void => {
    const { text } = buffer;
    const shown = suggestionsFor(helpers.complete, buffer, () => {
      // Skip this if the person has typed more, selected a suggestion, or closed the list.
      if (buffer.text !== text || suggestions !== shown) return;
      suggest();
      helpers.changed?.();
    });
    suggestions = shown;
  };
  const edited = (): readonly Typed[] => {
    walk.edited();
    suggest();
    return changed;
  };
  const insert = (piece: string): readonly Typed[] => {
    const accepted = textStart(piece, MAX_LINE - buffer.text.length);
    const isReported = isFull;
    isFull = accepted !== piece;
    const full: readonly Typed[] = isFull && !isReported ? [{ kind: "full" }] : [];
    if (accepted === "") return full;
    if (buffer.text === "") begun = now;
    buffer.insert(accepted);
    return [...edited(), ...full];
  };
  const drop = (): void => {
    buffer.set("");
    suggestions = undefined;
    answer = undefined;
    walk.endSearch();
    walk.edited();
    isFull = false;
  };
  const send = (): readonly Typed[] => {
    const line = buffer.text;
    const at = line === "" ? now : begun;
    drop();
    if (line.trim() !== "") helpers.history?.add(line);
    return [...changed, { kind: "line", line, begun: at }];
  };
  const enter = (): readonly Typed[] => {
    if (buffer.text.slice(0, buffer.cursor).endsWith(CONTINUES)) {
      buffer.erase("left");
      return insert("\n");
    }
    const chosen = chosenByEnter(suggestions, buffer);
    if (chosen === undefined) return send();
    const completed = accept();
    return chosen.runs && buffer.cursor === buffer.text.length ? [...completed, ...send()] : completed;
  };
  const recall = (step: "earlier" | "later"): readonly Typed[] => {
    const line = walk.step(step, buffer.text);
    if (line === undefined) return [];
    // The line is new: it answers nothing that was asked before.
    begun = now;
    buffer.set(line);
    suggestions = undefined;
    return changed;
  };
  const found = (line: string | undefined): readonly Typed[] => {
    suggestions = undefined;
    if (line !== undefined) {
      buffer.set(line, line.indexOf(walk.search?.query ?? ""));
      begun = now;
    }
    return changed;
  };
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
  const vertical = (key: "up" | "down"): readonly Typed[] => {
    if (suggestions !== undefined) {
      suggestions = nextSelected(suggestions, key === "up" ? -1 : 1);
      return changed;
    }
    if (!walk.isWalking && buffer.moveLine(key === "up" ? -1 : 1)) return changed;
    return recall(key === "up" ? "earlier" : "later");
  };
  const moved = (to: Parameters<typeof buffer.move>[0]): readonly Typed[] => {
    buffer.move(to);
    walk.moved();
    suggestions = undefined;
    return changed;
  };
  const erased = (to: Parameters<typeof buffer.erase>[0]): readonly Typed[] => {
    buffer.erase(to);
    return edited();
  };
  const edit = (key: EditKey): readonly Typed[] => {
    const end = ERASED_TO[key];
    if (end !== undefined) return erased(end);
    switch (key) {
      case "up":
      case "down":
        return vertical(key);
      case "yank":
        return insert(buffer.erased);
      case "newline":
        return insert("\n");
      case "search":
        walk.beginSearch(buffer);
        return found(undefined);
      case "cancel":
        return [];
      case "complete":
        return accept();
      default:
        return moved(key as Parameters<typeof buffer.move>[0]);
    }
  };
  /** A key during a search in the history; undefined ends the search and gives the key its usual meaning. */
  const searchKey = (pressed: Pressed): readonly Typed[] | undefined => {
    const { search } = walk;
    if (search === undefined) return undefined;
    if (pressed.kind === "text") return found(walk.find(search.query + pressed.text));
    if (pressed.kind === "edit" && pressed.key === "erase")
      return found(walk.find(search.query.slice(0, borderBefore(search.query, search.query.length - 1))));
    if (pressed.kind === "edit" && pressed.key === "search") return found(walk.findEarlier());
    if (pressed.kind === "edit" && pressed.key === "cancel") {
      const { text, cursor } = walk.cancelSearch();
      buffer.set(text, cursor);
      return changed;
    }
    walk.endSearch();
    if (pressed.kind === "enter") return send();
    return pressed.kind === "escape" ? changed : undefined;
  };
  /** Reports the typed character as an answer, if its question is still open; else it stays in the line. */
  const answered = (given: typeof answer): readonly Typed[] | undefined => {
    if (given === undefined || helpers.answers?.(given.char) !== given.question) return undefined;
    drop();
    return [...changed, { kind: "answer", char: given.char }];
  };
  /** A key after a character that may be an answer; undefined gives the key its usual meaning. */
  const keyAfterAnswer = (pressed: Pressed): readonly Typed[] | undefined => {
    const before = answer;
    answer = undefined;
    if (pressed.kind === "enter") return answered(before);
    if (before === undefined || pressed.kind !== "escape") return undefined;
    // The person cancels the answer; Esc must not also interrupt a turn.
    drop();
    return changed;
  };
  /** @param isSecond the key before it may have been an answer: both are text */
  const typed = (text: string, isPasted: boolean, isSecond: boolean): readonly Typed[] => {
    // A key that came too early for its question is still in the line. Pressed again, it answers the question.
    const isAgain = buffer.text === text && !isSecond;
    const question = isPasted || (buffer.text !== "" && !isAgain) ? undefined : helpers.answers?.(text);
    const shown = insert(text);
    answer = question === undefined ? undefined : { char: text, question };
    return shown;
  };
  const press = (pressed: Pressed): readonly Typed[] => {
    const isSecond = answer !== undefined;
    const special = keyAfterAnswer(pressed) ?? searchKey(pressed);
    if (special !== undefined) return special;
    switch (pressed.kind) {
      case "text":
        return typed(pressed.text, pressed.pasted, isSecond);
      case "edit":
        return edit(pressed.key);
      case "enter":
        return enter();
      case "signal": {
        const { signal } = pressed;
        // A stopped process continues later, and keeps its line.
        const stops = signal === "SIGTSTP";
        const dropped = !stops && buffer.text !== "";
        if (!stops) drop();
        return [...changed, { kind: "signal", signal, dropped }];
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
      return withoutRepeats(decoder.push(text).flatMap(press));
    },
    get settleMs() {
      if (decoder.isPending) return ESCAPE_MS;
      return answer === undefined ? undefined : ANSWER_MS;
    },
    settle() {
      if (decoder.isPending) return withoutRepeats(decoder.settle().flatMap(press));
      const last = answer;
      answer = undefined;
      return answered(last) ?? [];
    },
    get edited() {
      return { text: buffer.text, cursor: buffer.cursor, suggestions, search: walk.search };
    },
    get begun() {
      return begun;
    },
    clear: drop,
    connect(next) {
      helpers = { ...helpers, ...next };
    },
  };
}
