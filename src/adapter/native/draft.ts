import { PERMISSION_MODES } from "../../schema/permission-modes.ts";
import { withoutSpaces } from "../../text/without-spaces.ts";
import type { Screen } from "../../tmux/screen.ts";

/** Borders and bars that programs draw at the left of their input. */
const BORDER = /^[\s\u2500-\u259f]+/u;
/** A prompt: at most one word, which ends in a prompt character (`›`, `>>>`, `(gdb)`, `root@host:/x#`). */
const PROMPT = /^\S*[›❯»>$#%:)]$/u;
/** The mode in the prompt of our own panes (`plan ›`). */
const MODE = new RegExp(`^(?:${PERMISSION_MODES.join("|")}) (?=›)`, "u");

/**
 * Returns the text before the cursor that a person may have begun to type; undefined if there is none. Text to the right of the cursor
 * is not a draft: programs show a hint there. A draft of several lines is not seen if its last line is empty.
 */
export function draftOf(screen: CursorRow): string | undefined {
  const before = beforeCursor(screen);
  return before === "" || PROMPT.test(before) ? undefined : withoutPrompt(before);
}

/**
 * Whether the text before the cursor is the end of a text that the program may have put there.
 * @param text the text as the program received it; the screen may wrap it
 */
export function endsAtCursor(screen: CursorRow, text: string): boolean {
  const before = withoutSpaces(withoutPrompt(beforeCursor(screen)));
  return before !== "" && withoutSpaces(text).endsWith(before);
}

type CursorRow = Pick<Screen, "rows" | "cursor" | "height">;

function beforeCursor({ rows, cursor, height }: CursorRow): string {
  const row = rows.slice(-height)[cursor.y] ?? "";
  // Cells and characters differ only after wide characters; a draft then contains more than was typed.
  return [...row].slice(0, cursor.x).join("").replace(BORDER, "").replace(MODE, "").trimEnd();
}

function withoutPrompt(text: string): string {
  return text.replace(/^[›❯»>](?:\s+|$)/u, "");
}
