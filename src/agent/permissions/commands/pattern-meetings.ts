import { foldedName, isAscii } from "../../../text/folded-name.ts";

/** Maximum characters of a name: no system opens a longer one. */
const MAX_NAME = 255;

/** Characters with a meaning in the patterns of shells or rules. */
const SPECIAL = /[*?[\]{}()!+@\\]/;

/** A part of a path for any directories, including hidden ones: only the shell, or a link, knows which. */
export const ANYWHERE = "***";
/** Text that only the shell knows, in a name. */
export const UNKNOWN = "\ufffc";

/** Returns whether only the shell, or a link, knows the directory of a path. */
export function isAnywhere(path: string): boolean {
  return path.startsWith(`/${ANYWHERE}`);
}

/** Returns a pattern that matches this text only. */
export function literally(text: string): string {
  return SPECIAL.test(text) ? text.replace(/[*?[\]{}()!+@\\]/g, "\\$&") : text;
}

/** Returns the text that a pattern without wildcards matches. */
export function unescaped(pattern: string): string {
  return pattern.replace(/\\(.)/gs, "$1");
}

/** Returns whether a pattern has a wildcard. */
export function hasWildcard(pattern: string): boolean {
  return /[*?[{(]/.test(pattern.replace(/\\./gs, ""));
}

/** Limit of a pattern that is compared with another. A longer one counts as a match, because a crafted one can be slow. */
const MAX_GLOB = 100;

/**
 * Returns whether some path matches both a pattern of a command and a pattern of a rule, or is below a path that the rule matches.
 * Case is ignored. Rather too many than too few: sets, and alternatives of the rule, match any text.
 */
export function pathPatternsMeet(written: readonly string[], rule: readonly string[]): boolean {
  return meetings(written, rule, ends(rule))[0] === true;
}

/** Returns for each position in the pattern of a rule whether nothing may follow it. */
export function ends(rule: readonly string[]): readonly boolean[] {
  const found = new Array<boolean>(rule.length + 1).fill(false);
  found[rule.length] = true;
  for (let j = rule.length - 1; j >= 0; j -= 1) found[j] = rule[j] === "**" && found[j + 1] === true;
  return found;
}

/**
 * Returns for each position in the pattern of a rule whether a pattern of a command meets the rest of the rule from there.
 * @param after the same for the text after the pattern of the command
 */
export function meetings(
  written: readonly string[],
  rule: readonly string[],
  after: readonly boolean[],
): readonly boolean[] {
  let below = after;
  for (const part of written.toReversed()) {
    if (part === ANYWHERE) {
      below = anywhereBefore(below, rule);
      continue;
    }
    const row = new Array<boolean>(rule.length + 1).fill(false);
    row[rule.length] = true;
    for (let j = rule.length - 1; j >= 0; j -= 1) {
      const wanted = rule[j] ?? "";
      if (wanted === "**") row[j] = row[j + 1] === true || below[j] === true;
      // A shell's `**` matches no hidden directory.
      else if (part === "**") row[j] = (row[j + 1] === true && !wanted.startsWith(".")) || below[j] === true;
      else row[j] = below[j + 1] === true && partMeets(part, wanted, rule[j - 1], rule[j + 1]);
    }
    below = row;
  }
  return below;
}

/** An unknown name counts only for a rule about a file in a directory: it would match every rule about a whole directory. */
function partMeets(
  part: string,
  wanted: string,
  above: string | undefined,
  next: string | undefined,
): boolean {
  if (!part.includes(UNKNOWN)) return namesMeet(part, wanted);
  const pattern = part.replaceAll(UNKNOWN, "*");
  // Unlike a star of the shell, unknown text may begin with a dot.
  const written = wanted.startsWith(".") ? pattern.replace(/^\*+/, ".*") : pattern;
  return above !== "**" && next !== "**" && !hasWildcard(wanted) && namesMeet(written, wanted);
}

/** The path after unknown directories must name a part of the rule: otherwise, a rule for a directory would cover every file. */
function anywhereBefore(below: readonly boolean[], rule: readonly string[]): readonly boolean[] {
  const row = new Array<boolean>(rule.length + 1).fill(false);
  for (let j = rule.length - 1; j >= 0; j -= 1)
    row[j] = row[j + 1] === true || (below[j] === true && rule[j] !== "**");
  return row;
}

/** Returns whether some name matches both patterns. A shell's pattern matches hidden names only with a leading dot or `(D)`. */
export function namesMeet(written: string, rule: string): boolean {
  if (!SPECIAL.test(written) && !SPECIAL.test(rule) && isAscii(written + rule))
    return written.toLowerCase() === rule.toLowerCase();
  if (/^[*?[]/.test(written) && !written.includes("(") && rule.startsWith(".")) return false;
  const isLiteral = !hasWildcard(written);
  if (isLiteral && unescaped(written).length > MAX_NAME) return false;
  if ((written.length > MAX_GLOB && !isLiteral) || rule.length > MAX_GLOB) return true;
  return tokensMeet(written, rule);
}

function tokensMeet(written: string, rule: string): boolean {
  const spelled = isAscii(written + rule) ? foldedName : (text: string) => loosened(decomposed(text));
  const [a, b] = [tokensOf(spelled(written)), tokensOf(spelled(rule))];
  // From the end: whether the rest of one meets the rest of the other.
  let below = new Array<boolean>(b.length + 1).fill(false);
  for (let i = a.length; i >= 0; i -= 1) {
    const row = new Array<boolean>(b.length + 1).fill(false);
    for (let j = b.length; j >= 0; j -= 1) {
      const isAnyText = a[i] === "*" || b[j] === "*";
      const isEnd = i === a.length && j === b.length;
      row[j] = isEnd || (isAnyText ? below[j] || row[j + 1] : below[j + 1] && areAlike(a[i], b[j])) === true;
    }
    below = row;
  }
  return below[0] === true;
}

function areAlike(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  return one === other || one === "?" || other === "?";
}

/** The characters of a pattern: `*` is any text, `?` any character, `=a` this one. */
function tokensOf(pattern: string): readonly string[] {
  const found = pattern.match(/\\.|\[[^\]]+\]+|[@!+?*]?[{(][^})]*[})]|./gsu) ?? [];
  return found.map((token) => {
    if (token === "*" || token === "?") return token;
    if (token.length > 1 && token.startsWith("[")) return "?";
    if (token.length > 1 && /^[@!+?*]?[{(]/.test(token)) return "*";
    return `=${token.replace(/^\\(?=.)/s, "")}`;
  });
}

/** Folds a name, and separates its letters from their accents: one file system or shell composes them, another does not. */
export function decomposed(name: string): string {
  return foldedName(name).normalize("NFD");
}

/** For names beyond ASCII, `?` stands for any text: some shells count bytes, and folding changes the number of characters. */
export function loosened(pattern: string): string {
  return pattern.replaceAll("?", "*");
}
