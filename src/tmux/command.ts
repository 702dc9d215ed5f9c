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
