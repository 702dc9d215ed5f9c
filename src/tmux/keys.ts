import { sequence, type TmuxCommand } from "./command.ts";
import { literal } from "./format.ts";
import type { PaneId, WindowId } from "./ids.ts";

/**
 * Runs a command only while a condition holds for this very pane; check and act are one command. The condition must
 * name the pane itself: for a target that is gone tmux asks some other pane and reports no error.
 * @param miss what is printed when it did not act
 */
export function onlyIf(pane: PaneId, condition: string, command: TmuxCommand, miss = MISS): TmuxCommand {
  return ifElse(pane, condition, [command], [["display-message", "-p", literal(miss)]]);
}

/** What {@link onlyIf} prints when it did not act, unless told otherwise. */
export const MISS = "MISS";

/**
 * As {@link onlyIf} for several commands, and others for when the condition does not hold. Nothing comes between the
 * check and the last of them; one that fails ends them.
 * @param target of a window the condition is asked of its active pane
 */
export function ifElse(
  target: PaneId | WindowId,
  condition: string,
  then: readonly TmuxCommand[],
  otherwise: readonly TmuxCommand[],
): TmuxCommand {
  return ["if-shell", "-F", "-t", target, condition, sequence(then), sequence(otherwise)];
}

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
