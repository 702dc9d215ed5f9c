/** The word at the cursor of a bash line, and how it is quoted. */
interface LastWord {
  /** The word without quotes and escapes. */
  readonly value: string;
  /** The part of the value that bash keeps: it replaces only what follows the last word break or an open quote. */
  readonly kept: string;
  /** The quote that is open at the cursor. */
  readonly quote: "" | "'" | '"';
}

interface BashLine {
  /** The words before the cursor's, without quotes and escapes. */
  readonly words: readonly string[];
  readonly last: LastWord;
}

/**
 * Splits a command line up to the cursor into words, as bash does. Expands nothing: a substitution is plain text.
 * @param breaks bash's `$COMP_WORDBREAKS`
 */
export function readBashLine(line: string, breaks: string): BashLine {
  const words: string[] = [];
  let value = "";
  let kept = "";
  let quote: LastWord["quote"] = "";
  let isBegun = false;
  for (let at = 0; at < line.length; at += 1) {
    const char = line[at] ?? "";
    if (quote === "" && /\s/.test(char)) {
      if (isBegun) words.push(value);
      [value, kept, isBegun] = ["", "", false];
      continue;
    }
    isBegun = true;
    const step = stepAt(char, line[at + 1], { value, kept, quote }, breaks);
    [value, kept, quote] = [step.value, step.kept, step.quote];
    at += step.skipped;
  }
  return { words, last: { value, kept, quote } };
}

/** Reads one character of a word. @returns the word after it, and the number of following characters that belong to it */
function stepAt(
  char: string,
  next: string | undefined,
  word: LastWord,
  breaks: string,
): LastWord & { readonly skipped: number } {
  const { value, quote } = word;
  if (char === quote) return { ...word, quote: "", skipped: 0 };
  if (quote === "" && (char === "'" || char === '"')) return { value, kept: value, quote: char, skipped: 0 };
  if (char === "\\" && quote !== "'" && next !== undefined && isEscapable(next, quote))
    return { ...word, value: value + next, skipped: 1 };
  const isBreak = quote === "" && breaks.includes(char);
  // Readline keeps other break characters, but replaces an @ together with the text after it.
  const kept = char === "@" ? value : value + char;
  return { value: value + char, kept: isBreak ? kept : word.kept, quote, skipped: 0 };
}

/** Returns a word without its quotes and escapes; a quote that is still open is dropped too. */
export function unquoted(word: string): string {
  const { words, last } = readBashLine(word, "");
  return words[0] ?? last.value;
}

function isEscapable(char: string, quote: LastWord["quote"]): boolean {
  return quote === "" || '$`"\\'.includes(char);
}

/**
 * Returns what bash inserts for a candidate, quoted so that the shell reads it as this text.
 * @returns undefined if the candidate does not continue the word, or cannot be written inside the open quote
 */
export function bashReply(candidate: string, { value, kept, quote }: LastWord): string | undefined {
  if (!candidate.startsWith(value)) return undefined;
  const rest = candidate.slice(kept.length);
  if (quote === "'") return rest.replaceAll("'", "'\\''");
  // History expansion reads `!` in double quotes, even after a backslash.
  if (quote === '"') return rest.includes("!") ? undefined : rest.replace(/[$`"\\]/g, "\\$&");
  return rest.replace(/[^\p{L}\p{N}_./:@%+,=-]/gu, "\\$&");
}
