import { PASTE_END, PASTE_START } from "../../text/extended-keys.ts";
import type { LineEditor } from "./line-editor.ts";

/** A line that was begun but not sent. */
interface Draft {
  readonly line: string;
  /** When its first character came, in milliseconds of the steady clock. */
  readonly begun: number;
}

/** The drafts of several views that share one editor. */
interface Drafts {
  /** Saves the draft of a view, and restores the draft of the next view. A view without a name has no draft. */
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
      restoreDraft(editor(), draft);
    },
  };
}

/** Restores a draft as a paste, so nothing in it acts as a key. Keeps its start time, so it does not answer a later question. */
export function restoreDraft(editor: LineEditor, { line, begun }: Draft): void {
  editor.push(`${PASTE_START}${line}${PASTE_END}`, begun);
}
