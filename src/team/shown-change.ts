/** Longest text of a call that is shown, in characters: who allows more than that looks at the file of the request. */
const MAX_TEXT = 100_000;

/**
 * What a call would change in a file, for the person who allows it: removed lines behind `- `, new ones behind `+ `. What the
 * two texts of an edit have in common at their ends is left out.
 * @returns none for a call that changes no text, or whose input is none of its tool
 */
export function shownChange(tool: string, input: unknown): readonly string[] {
  const { content, old_string, new_string, replace_all } = fieldsOf(input);
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
  const cut = text.slice(0, MAX_TEXT).replace(/\n$/, "").split("\n");
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
