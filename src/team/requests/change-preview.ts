import { revealHidden, revealHiddenInCommand } from "../../text/terminal-text.ts";

/** Longest text of a call that is shown, in characters: who allows more than that looks at the file of the request. */
const MAX_TEXT = 100_000;
/** Characters of a command that its summary shows in one row of most terminals. */
const SHORT_COMMAND = 60;

/**
 * What a call would do that its summary leaves out, for the person who allows it, line by line: of a file removed lines behind
 * `- ` and new ones behind `+ `, without what the two texts of an edit have in common at their ends; of a command of several
 * lines, or a long one, each line behind `$ `.
 * @returns none where the summary says it all, or the input is none of the tool
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
