/** Maximum characters of a line. A longer line is a file inside a command, too long to review. */
const MAX_LINE = 65_536;
/** Maximum number of open parentheses, quoted or not: the parser reads what is in one again for each around it. */
const MAX_OPEN = 300;
/** Maximum number of `<<`, quoted or not: the parser looks at each open here-document again for every further one. */
const MAX_HERE_DOCUMENTS = 1_000;
/** Maximum number of `=!`, quoted or not: the text after each one is searched again for the others in it. */
const MAX_ESCAPES = 100;

/**
 * Returns why a line or a script takes too long to parse and to search, as a clause; undefined if it does not. The time is linear in
 * its length.
 */
export function excessOf(text: string): string | undefined {
  if (text.length > MAX_LINE) return `it is longer than ${MAX_LINE} characters`;
  let [open, documents, escapes] = [0, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === OPEN) open += 1;
    else if (code === CLOSE) open = Math.max(0, open - 1);
    else if (code === LESS && text.charCodeAt(at - 1) === LESS) documents += 1;
    else if (code === BANG && text.charCodeAt(at - 1) === EQUALS) escapes += 1;
    if (open > MAX_OPEN) return "it is nested too deeply";
    if (documents > MAX_HERE_DOCUMENTS) return "it has too many here-documents";
    if (escapes > MAX_ESCAPES) return "it has too many shell escapes";
  }
  return undefined;
}

const [BANG, OPEN, CLOSE, LESS, EQUALS] = [33, 40, 41, 60, 61];
