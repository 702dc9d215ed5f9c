import { revealHidden, revealHiddenInCommand } from "../../text/terminal-text.ts";

/** Maximum length of a previewed text, in characters; a longer one can be read in the file of the request. */
const MAX_TEXT = 100_000;
/** Length of a command that the summary shows in one row of most terminals. */
const SHORT_COMMAND = 60;

/**
 * Returns the lines that show what a tool call would do, for the person who allows it. For a file: removed lines with `- `
 * and new lines with `+ `, without common lines at both ends of an edit. For a command with several lines, or a long
 * one: each line with `$ `.
 * @returns no lines if the summary is complete, or the input does not fit the tool
 */
export function changePreview(tool: string, input: unknown): readonly string[] {
  const { content, old_string, new_string, replace_all, command } = fieldsOf(input);
  if (tool === "Bash" && typeof command === "string") {
    const isShort = command.length <= SHORT_COMMAND && !command.trim().includes("\n");
    return isShort ? [] : rows("$", linesOf(revealHiddenInCommand(command).trim()));
  }
  if (tool === "Write" && typeof content === "string") return rows("+", linesOf(content));
  if (tool !== "Edit" || typeof old_string !== "string" || typeof new_string !== "string") return [];
  const [before, after] = withoutCommonEnds(linesOf(old_string), linesOf(new_string));
  const where = replace_all === true ? ["(in every place)"] : [];
  return [...where, ...rows("-", before), ...rows("+", after)];
}

function fieldsOf(input: unknown): Readonly<Record<string, unknown>> {
  return typeof input === "object" && input !== null ? (input as Record<string, unknown>) : {};
}

function linesOf(text: string): readonly string[] {
  if (text === "") return [];
  const cut = revealHidden(text.slice(0, MAX_TEXT)).replace(/\n$/, "").split("\n");
  return text.length > MAX_TEXT ? [...cut, `… ${text.length - MAX_TEXT} more characters`] : cut;
}

function rows(sign: string, lines: readonly string[]): readonly string[] {
  return lines.map((line) => `${sign} ${line}`);
}

function withoutCommonEnds(
  before: readonly string[],
  after: readonly string[],
): readonly [readonly string[], readonly string[]] {
  const least = Math.min(before.length, after.length);
  let head = 0;
  while (head < least && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < least - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  return [before.slice(head, before.length - tail), after.slice(head, after.length - tail)];
}
