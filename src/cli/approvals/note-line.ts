import { restoreDraft } from "../../terminal/input/drafts.ts";
import { lineEditor } from "../../terminal/input/line-editor.ts";
import type { EditedLine } from "../../terminal/input/typed.ts";

/** The line in which a user writes a note. */
export class NoteLine {
  readonly #editor = lineEditor();
  #isOpen = false;
  /** The written note, trimmed. */
  text = "";

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get isPending(): boolean {
    return this.#editor.settleMs !== undefined;
  }

  get edited(): EditedLine {
    return this.#editor.edited;
  }

  /** Begins a note, or continues the written one. */
  open(): void {
    this.#isOpen = true;
    const { text } = this;
    this.#editor.clear();
    if (text !== "") restoreDraft(this.#editor, { line: text, begun: 0 });
  }

  clear(): void {
    this.#editor.clear();
    this.#isOpen = false;
    this.text = "";
  }

  /** @returns how the note has ended; undefined if it has not */
  push(input: string): "sent" | "cancelled" | undefined {
    return this.#after(this.#editor.push(input));
  }

  settle(): "sent" | "cancelled" | undefined {
    return this.#after(this.#editor.settle());
  }

  #after(typed: ReturnType<ReturnType<typeof lineEditor>["push"]>): "sent" | "cancelled" | undefined {
    for (const one of typed) {
      if (one.kind === "line") {
        this.text = one.line.trim();
        this.#isOpen = false;
        return "sent";
      }
      if (one.kind === "escape" || one.kind === "end" || one.kind === "signal") {
        this.#editor.clear();
        this.#isOpen = false;
        return "cancelled";
      }
    }
    return undefined;
  }
}
