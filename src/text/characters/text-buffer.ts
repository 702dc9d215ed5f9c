import { borderAfter, borderBefore, graphemes } from "./graphemes.ts";

/** Returns the start of the word before an index, or of the text. */
function wordStart(text: string, at: number): number {
  let start = at;
  while (start > 0 && /\s/.test(text.charAt(start - 1))) start -= 1;
  while (start > 0 && /\S/.test(text.charAt(start - 1))) start -= 1;
  return start;
}

/** A text of one or more lines with a cursor in it. */
export interface TextBuffer {
  readonly text: string;
  /** Index of the code unit at which the next character is inserted. */
  readonly cursor: number;
  /** The word or line that was erased last. */
  readonly erased: string;
  /** @param cursor default: the end of the text */
  set(text: string, cursor?: number): void;
  insert(text: string): void;
  /** Moves the cursor. */
  move(to: "left" | "right" | "word-left" | "word-right" | "home" | "end"): void;
  /** Moves the cursor to the line above or below. @returns false if there is no such line */
  moveLine(step: -1 | 1): boolean;
  /** Erases from the cursor to a place. */
  erase(to: "left" | "right" | "word-left" | "word-right" | "home" | "end"): void;
}

export function textBuffer(): TextBuffer {
  let text = "";
  let cursor = 0;
  let erased = "";

  const lineStart = (at: number): number => (at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1);
  const lineEnd = (at: number): number => {
    const end = text.indexOf("\n", at);
    return end === -1 ? text.length : end;
  };
  const target = (to: Parameters<TextBuffer["move"]>[0]): number => {
    switch (to) {
      case "left":
        return borderBefore(text, cursor - 1);
      case "right":
        return borderAfter(text, cursor + 1);
      case "word-left":
        return wordStart(text, cursor);
      case "word-right":
        return cursor + (/^\s*\S+/.exec(text.slice(cursor))?.[0].length ?? text.length - cursor);
      case "home":
        return lineStart(cursor);
      case "end":
        return lineEnd(cursor);
    }
  };
  return {
    get text() {
      return text;
    },
    get cursor() {
      return cursor;
    },
    get erased() {
      return erased;
    },
    set(next, at = next.length) {
      text = next;
      cursor = at;
    },
    insert(piece) {
      text = text.slice(0, cursor) + piece + text.slice(cursor);
      cursor += piece.length;
    },
    move(to) {
      cursor = target(to);
    },
    moveLine(step) {
      const start = lineStart(cursor);
      const column = graphemes(text.slice(start, cursor)).length;
      const edge = step === -1 ? start - 1 : lineEnd(cursor) + 1;
      if (edge < 0 || edge > text.length) return false;
      const from = step === -1 ? lineStart(edge) : edge;
      const line = graphemes(text.slice(from, lineEnd(from)));
      cursor = from + line.slice(0, column).join("").length;
      return true;
    },
    erase(to) {
      const at = target(to);
      // At the start or the end of a line, it is joined with the line next to it, as in other editors.
      const border = to === "end" ? Math.min(text.length, at + 1) : to === "home" ? Math.max(0, at - 1) : at;
      const end = at === cursor ? border : at;
      const [from, until] = [Math.min(end, cursor), Math.max(end, cursor)];
      if (from === until) return;
      if (to !== "left" && to !== "right") erased = text.slice(from, until);
      text = text.slice(0, from) + text.slice(until);
      cursor = from;
    },
  };
}
