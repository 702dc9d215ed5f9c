import type { TextBuffer } from "./text-buffer.ts";

/** A word that can replace the word at the cursor. */
export interface Suggestion {
  readonly insert: string;
  /** Shown in the list. */
  readonly label: string;
  /** Shown after the label. */
  readonly note?: string;
}

/** What can replace the text from an index to the cursor. */
export interface Suggestions {
  readonly from: number;
  /** At least one. */
  readonly items: readonly Suggestion[];
  readonly selected: number;
}

/** Returns what the word at the cursor can become. @param word begins with `/` or `@` */
export type Completer = (word: string) => readonly Suggestion[];

/** Returns suggestions for a command at the start of the text, and for a word that begins with `@`. */
export function suggestionsFor(
  complete: Completer | undefined,
  { text, cursor }: Pick<TextBuffer, "text" | "cursor">,
): Suggestions | undefined {
  const word = /(?:^\/|(?<!\S)@)\S*$/.exec(text.slice(0, cursor))?.[0];
  if (complete === undefined || word === undefined) return undefined;
  const items = complete(word);
  // Nothing to choose: the word is complete.
  if (items.length === 0 || (items.length === 1 && items[0]?.insert.trimEnd() === word)) return undefined;
  return { from: cursor - word.length, items, selected: 0 };
}
