import { PASTE_END, PASTE_START } from "../../text/extended-keys.ts";
import type { LineEditor } from "./line-editor.ts";

/** The lines that were begun in several views of one editor. */
interface Drafts {
  /** Keeps the line of a view, and puts back that of the next one. A view without a name has no line. */
  change(from: string | undefined, to: string | undefined): void;
}

export function draftsOf(editor: () => LineEditor): Drafts {
  const lines = new Map<string, string>();
  return {
    change(from, to) {
      if (from === to) return;
      if (from !== undefined) lines.set(from, editor().edited.text);
      editor().clear();
      const line = to === undefined ? undefined : lines.get(to);
      if (line) putBack(editor(), line);
    },
  };
}

/** Puts a line back as a paste: nothing in it is a key. */
export function putBack(editor: LineEditor, line: string): void {
  editor.push(`${PASTE_START}${line}${PASTE_END}`);
}
