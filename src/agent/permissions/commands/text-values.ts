import { wrappedAt } from "./data-words.ts";
import { optionValues } from "./risky-options.ts";
import { baseName } from "./runners.ts";

/** Options whose value is text for people, or names files that the program does not touch. */
const TEXT =
  /^(?:-m|--(?:message|author|date|grep|format|pretty|trailer|(?:exclude|ignore)(?:-dir|-glob|-pattern)?))$/;

/** The same for programs whose options no table lists, by the first words of the command. */
const TEXT_OF: readonly (readonly [words: RegExp, options: RegExp])[] = [
  [
    /^(?:gh|glab|hub) (?:pr|issue|release) (?:create|edit|comment|review|close|merge)$/,
    /^(?:-[tb]|--(?:body|title|notes|subject|message))$/,
  ],
  [/^(?:hg|svn|jj) (?:commit|ci|describe|desc) /, /^(?:-m|--message)$/],
];

/** `--exclude=*.log`: the name shows the kind of the value, in any program. */
const EXCLUDES = /^--(?:exclude|ignore)(?:-dir|-glob|-pattern)?=[^\s;|&$`]*$/;

/** Returns the indexes of the patterns by which find or zip excludes files. */
function excludingIndexes(words: readonly string[]): readonly number[] {
  const name = baseName(words[0] ?? "");
  if (name === "zip") return excludingInZip(words);
  // In a group, an action may take the files that a pattern excludes.
  if (name !== "find" || words.some((word) => /^[(),]$/.test(word))) return [];
  const hasAlternative = words.some((word) => /^-or?$/.test(word));
  const negates = (at: number): boolean => /^(?:!|-not)$/.test(words[at] ?? "");
  return words.flatMap((_, at) => {
    if (!/^-i?(?:name|path|wholename)$/.test(words[at - 1] ?? "")) return [];
    const isNegated = negates(at - 2) && !negates(at - 3) && !hasAlternative;
    const isPruned = words[at + 1] === "-prune" && /^-or?$/.test(words[at + 2] ?? "") && !negates(at - 2);
    return isNegated || isPruned ? [at] : [];
  });
}

/** The list after `-x` ends at an option or at `@`. */
function excludingInZip(words: readonly string[]): readonly number[] {
  let isList = false;
  return words.flatMap((word, at) => {
    if (word.startsWith("-")) isList = word === "-x" || word === "--exclude";
    else if (word === "@") isList = false;
    else if (isList) return [at];
    return [];
  });
}

/**
 * Returns the indexes of the words of a command that are text or names of excluded files. Unclear words are not among them: the
 * option of another program may have no value, and the word after it may be a file.
 */
export function textIndexes(words: readonly string[]): ReadonlySet<number> {
  const from = wrappedAt(words) ?? 0;
  const own = from === 0 ? words : words.slice(from);
  const found = new Set<number>();
  for (const { option, at } of optionValues(own)) if (TEXT.test(option)) found.add(from + at);
  for (const at of excludingIndexes(own)) found.add(from + at);
  const first = [baseName(own[0] ?? ""), own[1] ?? "", own[2] ?? ""].join(" ");
  const named = TEXT_OF.find(([known]) => known.test(first))?.[1];
  for (const [at, word] of own.entries()) {
    const [option = ""] = word.split("=", 1);
    const isGlued = option !== word;
    if (isGlued && (EXCLUDES.test(word) || named?.test(option))) found.add(from + at);
    else if (!isGlued && named?.test(own[at - 1] ?? "")) found.add(from + at);
  }
  return found;
}
