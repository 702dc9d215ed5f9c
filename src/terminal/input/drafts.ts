import { PASTE_END, PASTE_START } from "../../text/extended-keys.ts";
import type { LineEditor } from "./line-editor.ts";

/** A line that was begun. */
interface Draft {
  readonly line: string;
  /** When its first character came, in milliseconds of the steady clock. */
  readonly begun: number;
}

/** The lines that were begun in several views of one editor. */
interface Drafts {
  /** Keeps the line of a view, and puts back that of the next one. A view without a name has no line. */
  change(from: string | undefined, to: string | undefined): void;
}

export function draftsOf(editor: () => LineEditor): Drafts {
  const drafts = new Map<string, Draft>();
  return {
    change(from, to) {
      if (from === to) return;
      const { edited, begun } = editor();
      if (from !== undefined && edited.text !== "") drafts.set(from, { line: edited.text, begun });
      editor().clear();
      const draft = to === undefined ? undefined : drafts.get(to);
      if (to === undefined || draft === undefined) return;
      drafts.delete(to);
      putBack(editor(), draft);
    },
  };
}

/** Puts a line back as a paste, so that nothing in it acts as a key. Keeps its age, so that it answers no later question. */
export function putBack(editor: LineEditor, { line, begun }: Draft): void {
  editor.push(`${PASTE_START}${line}${PASTE_END}`, begun);
}
