import type { TmuxCommand } from "./command.ts";
import type { PaneId } from "./ids.ts";

/**
 * Returns the commands that paste text into a program that reads keys, as one bracketed paste. Control characters except tab and
 * newline are removed: an ESC could end the bracket. Use only inside `ifElse`, for a pane that is in no mode (tmux omits the
 * brackets there) and not dead (tmux 3.3 crashes).
 * @param buffer name of a temporary paste buffer; tmux deletes it afterwards
 */
export function paste(pane: PaneId, text: string, buffer: string): readonly TmuxCommand[] {
  return [
    ["set-buffer", "-b", buffer, "--", withoutControls(text)],
    ["paste-buffer", "-d", "-p", "-b", buffer, "-t", pane],
  ];
}

/**
 * Returns the commands that press Enter, under the same conditions as {@link paste}. `send-keys` would also reach the user's other
 * panes if the window has `synchronize-panes` on, and would press the key in copy mode.
 */
export function pressEnter(pane: PaneId, buffer: string): readonly TmuxCommand[] {
  return [
    ["set-buffer", "-b", buffer, "--", "\r"],
    ["paste-buffer", "-d", "-r", "-b", buffer, "-t", pane],
  ];
}

export function withoutControls(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "");
}
