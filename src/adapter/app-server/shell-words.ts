/** A word of a quoted argv: plain characters, `'…'`, or `"…"` with escapes, joined. Anything else has another form. */
const WORD = /(?:[^\s'"\\`$|&;<>()*?[\]{}~#!]+|'[^']*'|"(?:[^"\\`$]|\\["\\`$])*"|\\.)+/y;

/** Returns the words of an argv that was quoted for a shell; undefined for a text of another form. */
export function wordsOf(line: string): string[] | undefined {
  const words: string[] = [];
  for (let at = 0; at < line.length; ) {
    WORD.lastIndex = at;
    const [word] = WORD.exec(line) ?? [];
    if (word === undefined) return undefined;
    words.push(unquoted(word));
    at += word.length;
    if (at < line.length && line[at] !== " ") return undefined;
    at += 1;
  }
  return words;
}

function unquoted(word: string): string {
  return word.replace(/'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/gs, (_whole, single, double, escaped) =>
    single !== undefined ? single : double !== undefined ? double.replace(/\\(.)/gs, "$1") : escaped,
  );
}
