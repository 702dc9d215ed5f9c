/**
 * The limits of the search in a command line. A line beyond one of them never counts as harmless: deny rules and `writes`
 * refuse it, and otherwise only a person or bypassPermissions allows it.
 */

/** Maximum characters of a line. A longer line is a file inside a command, too long to review. */
const MAX_LINE = 65_536;
/** Maximum number of words, counted at blanks: a wrapped command may begin at each. */
const MAX_WORDS = 8_000;
/** Maximum number of open parentheses, quoted or not: the parser reads the content of each again for every one around it. */
const MAX_OPEN = 300;
/** Maximum number of `<<`, quoted or not: the parser looks at each open here-document again for every new one. */
const MAX_HERE_DOCUMENTS = 1_000;
/** Maximum number of `=!`, quoted or not: the text after each one is searched again for the others in it. */
const MAX_ESCAPES = 100;

/** Maximum number of commands. */
export const MAX_COMMANDS = 2_000;
/** Maximum characters of all substitutions, each counted with those inside it. */
export const MAX_NESTED_CHARS = 1_000_000;
/** Maximum number of quoted scripts (`sh -c "…"`) and quoted texts in code, and of their characters. */
export const MAX_SCRIPTS = 30;
export const MAX_SCRIPT_CHARS = 131_072;
/** Maximum number of words of one command that name an interpreter: the words after each of them may be its code. */
export const MAX_RUNNERS = 40;
/** Maximum characters that the values of variables add to words. */
export const MAX_VALUE_CHARS = 131_072;
/** Maximum characters of all words that a shell makes of words with braces. */
export const MAX_EXPANDED = 65_536;
/** Maximum number of nested groups of braces in a word. */
export const MAX_BRACES = 50;

/** Maximum number of different files of redirections: each is decided like a read or a write. */
export const MAX_REDIRECTIONS = 500;
/** Maximum number of different words with patterns: each is compared with the entries of directories. */
export const MAX_PATTERNS = 100;
/** Maximum number of directories that a line may be in. */
export const MAX_DIRS = 32;
/** Maximum number of different words that are checked as paths. */
export const MAX_NAMES = 2_000;
/** Maximum number of paths of these words, in all directories that the line may be in: the links of each are resolved. */
export const MAX_PATHS = 4_000;
/** Maximum number of directories that a line may be in if it only reads: each relative path counts in all of them. */
export const MAX_READ_DIRS = 8;
/** Maximum number of paths that such a line may read, in all of these directories. */
export const MAX_READ = 10_000;
/** Maximum characters of a path: no system opens a longer one. */
export const MAX_PATH = 4_096;

/**
 * Returns why a line or a script takes too long to parse and to search, as a clause; undefined if it does not. The time is linear
 * in its length.
 */
export function excessOf(text: string): string | undefined {
  if (text.length > MAX_LINE) return `it is longer than ${MAX_LINE} characters`;
  if (hasTooManyWords(text)) return "it has too many words";
  let [open, documents, escapes] = [0, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const before = text.charCodeAt(at - 1);
    if (code === OPEN) open += 1;
    else if (code === CLOSE) open = Math.max(0, open - 1);
    else if (code === LESS && before === LESS) documents += 1;
    else if (code === BANG && before === EQUALS) escapes += 1;
    if (open > MAX_OPEN) return "it is nested too deeply";
    if (documents > MAX_HERE_DOCUMENTS) return "it has too many here-documents";
    if (escapes > MAX_ESCAPES) return "it has too many shell escapes";
  }
  return undefined;
}

function hasTooManyWords(text: string): boolean {
  let words = 0;
  for (const _ of text.matchAll(/\S+/g)) {
    words += 1;
    if (words > MAX_WORDS) return true;
  }
  return false;
}

const [BANG, OPEN, CLOSE, LESS, EQUALS] = [33, 40, 41, 60, 61];
