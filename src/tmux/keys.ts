import { literal } from "./format.ts";
import type { PaneId } from "./ids.ts";
import { type Command, commandLine } from "./quote.ts";

/**
 * Runs a command only while a condition holds for this very pane; check and act are one command. The condition must
 * name the pane itself: for a target that is gone tmux asks some other pane and reports no error.
 * @param miss what is printed when it did not act
 */
export function onlyIf(pane: PaneId, condition: string, command: Command, miss = MISS): Command {
  const otherwise = commandLine(["display-message", "-p", literal(miss)]);
  return ["if-shell", "-F", "-t", pane, condition, commandLine(command), otherwise];
}

/** What {@link onlyIf} prints when it did not act, unless told otherwise. */
export const MISS = "MISS";

/** Named keys (`Enter`, `C-c`) for a program that reads them. */
export function sendKeys(pane: PaneId, keys: readonly string[]): Command {
  return ["send-keys", "-t", pane, ...keys];
}

/**
 * Text for a program that reads keys, as one bracketed paste through a buffer of its own, which is gone afterwards.
 * Control characters but tab and newline are taken out: an ESC could end the bracket. Only for a pane that is in no
 * mode, which the caller checks in the same batch.
 */
export function paste(pane: PaneId, text: string, buffer: string): readonly Command[] {
  return [
    ["set-buffer", "-b", buffer, "--", withoutControls(text)],
    ["paste-buffer", "-d", "-p", "-b", buffer, "-t", pane],
  ];
}

export function withoutControls(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "");
}
