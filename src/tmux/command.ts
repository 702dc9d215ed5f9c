import type { PaneId, WindowId } from "./ids.ts";

/** One tmux command: its name and its arguments, unquoted. */
export type TmuxCommand = readonly string[];

/** A line of a batch: one command, or a chain that stops at the first command that fails. */
export type BatchLine = TmuxCommand | { readonly chain: readonly TmuxCommand[] };

/**
 * Quotes a word for tmux's configuration language, as `source-file` reads it. Control characters become octal escapes, because
 * tmux drops whitespace after a newline inside quotes. So does `~`, which tmux expands even inside quotes.
 * @throws RangeError for a NUL, which no argument can contain
 */
function quote(word: string): string {
  if (word.includes("\0")) throw new RangeError("A tmux argument cannot contain a NUL.");
  const escaped = word.replace(/[\\"$]/g, "\\$&").replace(/[\x01-\x1f\x7f~]/g, octal);
  return `"${escaped}"`;
}

/**
 * Escapes a command for an argument vector: tmux ends a command after a word with a trailing `;`, unless a backslash precedes it.
 * No other character is special in a vector.
 */
export function escapeArguments(command: TmuxCommand): readonly string[] {
  return command.map((word) => (word.endsWith(";") ? `${word.slice(0, -1)}\\;` : word));
}

/** Formats one command as a line for `source-file`. */
export function commandLine(command: TmuxCommand): string {
  return command.map(quote).join(" ");
}

/** Formats several commands as one line, which stops at the first command that fails. */
export function sequence(commands: readonly TmuxCommand[]): string {
  return commands.map(commandLine).join(" ; ");
}

/** Formats a batch. */
export function script(lines: readonly BatchLine[]): string {
  return lines.map((line) => `${"chain" in line ? sequence(line.chain) : commandLine(line)}\n`).join("");
}

/** Like {@link script}, but a server with another process id runs only `otherwise`. Check and commands are atomic. */
export function scriptFor(serverPid: number, lines: readonly BatchLine[], otherwise: TmuxCommand): string {
  return `%if "#{==:#{pid},${serverPid}}"\n${script(lines)}%else\n${script([otherwise])}%endif\n`;
}

function octal(char: string): string {
  return `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`;
}

/**
 * Runs a command only if a condition holds for the pane; check and command are atomic. The condition must include the pane's id:
 * for a missing target, tmux checks the condition on another pane and reports no error.
 * @param miss printed if the condition does not hold
 */
export function onlyIf(pane: PaneId, condition: string, command: TmuxCommand, miss = MISS): TmuxCommand {
  return ifElse(pane, condition, [command], [["display-message", "-p", escapeFormat(miss)]]);
}

/** What {@link onlyIf} prints by default if the condition does not hold. */
export const MISS = "MISS";

/**
 * Runs `then` if a condition holds, else `otherwise`. The check and all commands are atomic; a command that fails stops the rest.
 * @param target for a window, the condition is checked on its active pane
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
 * Escapes text for an argument that tmux expands as a format (a window's name, a directory): `#` is doubled, so that the text
 * contains no variable and no command.
 */
export function escapeFormat(text: string): string {
  return text.replace(/#/g, "##");
}

/**
 * Escapes text for a user option that a border or status line draws through `#{@option}`: tmux does not expand the value again,
 * but would read `#[…]` in it as a style. Control characters become spaces.
 */
export function escapeDrawnText(text: string): string {
  return text.replace(/[\x00-\x1f\x7f]/g, " ").replace(/#+(?=\[)/g, "$&$&");
}

/** The condition that all given conditions hold. */
export function allOf(...conditions: readonly string[]): string {
  return conditions.reduceRight((rest, condition) => `#{&&:${condition},${rest}}`);
}

/** The condition that at least one of the given conditions holds. */
export function anyOf(...conditions: readonly string[]): string {
  return conditions.reduceRight((rest, condition) => `#{||:${condition},${rest}}`);
}

/**
 * The condition that a format variable has this value.
 * @param value word characters, `%`, `@`, `-` only; another character could end the format
 * @throws RangeError for other characters
 */
export function equals(variable: string, value: string): string {
  if (!/^[\w%@-]+$/.test(value)) throw new RangeError(`Not a plain value for a format: ${value}`);
  return `#{==:#{${variable}},${value}}`;
}
