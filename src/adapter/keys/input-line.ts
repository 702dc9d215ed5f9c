import { textEnd } from "../../text/characters/cut-text.ts";
import { withoutSpaces } from "../../text/without-spaces.ts";
import type { Screen } from "../../tmux/screen.ts";
import { draftOf } from "../native/draft.ts";

/**
 * The state of a program's input. `typed`: it contains a given text and nothing else. `closed`: the screen shows no input that
 * takes a text, for example because of a dialog. `isQuiet`: that is temporary, so the person is not notified.
 */
export type InputShown =
  | { readonly kind: "empty" }
  | { readonly kind: "typed" }
  | { readonly kind: "draft"; readonly text: string }
  | { readonly kind: "closed"; readonly why: string; readonly remedy: string; readonly isQuiet?: boolean };

/** Reads the input of a program from its screen. @param text the text that was typed into the input */
export type ReadInput = (screen: Screen, text?: string) => InputShown;

/** Number of final characters that identify a text in an input line. */
export const TAIL = 24;

/**
 * Returns a reader for any program: its input is the line before the cursor.
 * @param prompt the text of the line when it is empty
 */
export function lineAtCursor(prompt: string | undefined): ReadInput {
  return (screen, text) => {
    const draft = draftOf(screen);
    if (draft === undefined || draft === prompt?.trimEnd()) return { kind: "empty" };
    const isTyped = text !== undefined && withoutSpaces(text).endsWith(textEnd(withoutSpaces(draft), TAIL));
    return isTyped ? { kind: "typed" } : { kind: "draft", text: draft };
  };
}
