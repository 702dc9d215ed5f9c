import type { TextBuffer } from "../../text/characters/text-buffer.ts";

/** A word that can replace the word at the cursor. */
export interface Suggestion {
  readonly insert: string;
  /** Shown in the list. */
  readonly label: string;
  /** Shown after the label. */
  readonly note?: string;
  /** Enter also sends a line that ends with it; without this, Enter only completes the word. */
  readonly runs?: boolean;
}

/** Replacements of the text from an index to the cursor. */
export interface Suggestions {
  readonly from: number;
  /** At least one. */
  readonly items: readonly Suggestion[];
  readonly selected: number;
  /** Whether the person has selected an item with Up or Down. */
  readonly isChosen: boolean;
}

/**
 * Returns the suggestions for a word at the cursor.
 * @param word begins with `/` or `@`, except as the argument of a command
 * @param command the command whose first argument is the word
 * @param more called when other suggestions for this word become available
 */
export type Completer = (
  word: string,
  command: string | undefined,
  more: () => void,
) => readonly Suggestion[];

/** Returns suggestions for a command at the start of the text and its argument, and for a word that begins with `@`. */
export function suggestionsFor(
  complete: Completer | undefined,
  { text, cursor }: Pick<TextBuffer, "text" | "cursor">,
  more: () => void,
): Suggestions | undefined {
  const before = text.slice(0, cursor);
  const [, command, argument] = /^(\/[a-z]+) (\S*)$/.exec(before) ?? [];
  const word = argument ?? /(?:^\/|(?<!\S)@)\S*$/.exec(before)?.[0];
  if (complete === undefined || word === undefined) return undefined;
  const items = complete(word, command, more);
  // Nothing to choose: the word is complete.
  if (items.length === 0 || (items.length === 1 && items[0]?.insert.trimEnd() === word)) return undefined;
  return { from: cursor - word.length, items, selected: 0, isChosen: false };
}

export function nextSelected(suggestions: Suggestions, step: 1 | -1): Suggestions {
  const { items, selected } = suggestions;
  return { ...suggestions, selected: (selected + step + items.length) % items.length, isChosen: true };
}

/** Returns the suggestion that Enter accepts: the selected one, unless the word is already complete. */
export function chosenByEnter(
  suggestions: Suggestions | undefined,
  { text, cursor }: Pick<TextBuffer, "text" | "cursor">,
): Suggestion | undefined {
  if (suggestions === undefined) return undefined;
  const { from, items, selected, isChosen } = suggestions;
  const word = text.slice(from, cursor);
  const isWhole = /^$|.\/$/.test(word) || items.some(({ insert }) => withoutEnd(insert) === word);
  return isWhole && !isChosen ? undefined : items[selected];
}

function withoutEnd(insert: string): string {
  return insert.replace(/[ /]$/, "");
}
