import { type TmuxCommand } from "./command.ts";
import type { PaneId } from "./ids.ts";

/**
 * Text for a program that reads keys, as one bracketed paste through a buffer of its own, which is gone afterwards.
 * Control characters but tab and newline are taken out: an ESC could end the bracket. Only inside {@link ifElse}, for a
 * pane that is in no mode (tmux leaves the brackets out there) and not dead (tmux 3.3 crashes).
 */
export function paste(pane: PaneId, text: string, buffer: string): readonly TmuxCommand[] {
  return [
    ["set-buffer", "-b", buffer, "--", withoutControls(text)],
    ["paste-buffer", "-d", "-p", "-b", buffer, "-t", pane],
  ];
}

/**
 * The Enter key for a program that reads keys, under the same conditions as {@link paste}. Not by `send-keys`, which
 * presses it in the user's other panes too where a window has `synchronize-panes` on, and in copy mode presses it there.
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
