import { type PaneId, type WindowId } from "./ids.ts";
import { literal } from "./format.ts";
/** One tmux command: its name and its arguments, unquoted. */
export type TmuxCommand = readonly string[];

/** A line of a batch: one command, or several of which those behind one that fails are not done. */
export type BatchLine = TmuxCommand | { readonly chain: readonly TmuxCommand[] };

/**
 * One word in tmux's configuration language, as `source-file` reads it. Control characters go as octal escapes (a
 * newline inside quotes would swallow the blanks behind it), and so does `~`, which is a home also within quotes.
 * @throws RangeError for a NUL, which no argument can hold
 */
function quote(word: string): string {
  if (word.includes("\0")) throw new RangeError("An argument of tmux cannot hold a NUL.");
  const escaped = word.replace(/[\\"$]/g, "\\$&").replace(/[\x01-\x1f\x7f~]/g, octal);
  return `"${escaped}"`;
}

/**
 * One command as an argument vector: tmux parts it behind a word that ends in `;`, where a backslash stands for the
 * semicolon itself. Nothing else in a vector means anything.
 */
export function escapeArguments(command: TmuxCommand): readonly string[] {
  return command.map((word) => (word.endsWith(";") ? `${word.slice(0, -1)}\\;` : word));
}

/** One command as a line for `source-file`. */
export function commandLine(command: TmuxCommand): string {
  return command.map(quote).join(" ");
}

/** Several commands as one line; one that fails ends them. */
export function sequence(commands: readonly TmuxCommand[]): string {
  return commands.map(commandLine).join(" ; ");
}

/** The text of one batch. */
export function script(lines: readonly BatchLine[]): string {
  return lines.map((line) => `${"chain" in line ? sequence(line.chain) : commandLine(line)}\n`).join("");
}

/** As {@link script} for the server with this process, and for any other one command instead: nothing comes in between. */
export function scriptFor(serverPid: number, lines: readonly BatchLine[], otherwise: TmuxCommand): string {
  return `%if "#{==:#{pid},${serverPid}}"\n${script(lines)}%else\n${script([otherwise])}%endif\n`;
}

function octal(char: string): string {
  return `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`;
}

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
