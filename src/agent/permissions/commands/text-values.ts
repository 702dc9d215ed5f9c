import { wrappedAt } from "./data-words.ts";
import { optionValues } from "./risky-options.ts";
import { baseName } from "./runners.ts";

/** Options whose value is text for people, or names files that the program does not touch. */
const TEXT =
  /^(?:-m|--(?:message|author|date|grep|format|pretty|trailer|(?:exclude|ignore)(?:-dir|-glob|-pattern)?))$/;

/** Such options of programs whose options no table lists, by their first words. */
const TEXT_OF: readonly (readonly [words: RegExp, options: RegExp])[] = [
  [
    /^(?:gh|glab|hub) (?:pr|issue|release) (?:create|edit|comment|review|close|merge)$/,
    /^(?:-[tb]|--(?:body|title|notes|subject|message))$/,
  ],
  [/^(?:hg|svn|jj) (?:commit|ci|describe|desc) /, /^(?:-m|--message)$/],
];

/** `--exclude=*.log`: the name shows the kind of the value, in any program. */
const EXCLUDES = /^--(?:exclude|ignore)(?:-dir|-glob|-pattern)?=[^\s;|&$`]*$/;

/**
 * Returns the indexes of the words of a command that are text or names of files to leave out. Unclear words are not
 * among them: the option of another program may have no value, and the word after it may be a file.
 */
export function textIndexes(words: readonly string[]): ReadonlySet<number> {
  const from = wrappedAt(words) ?? 0;
  const own = from === 0 ? words : words.slice(from);
  const found = new Set<number>();
  for (const { option, at } of optionValues(own)) if (TEXT.test(option)) found.add(from + at);
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
