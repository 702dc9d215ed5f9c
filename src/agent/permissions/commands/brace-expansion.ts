import { MAX_BRACES, MAX_EXPANDED } from "./line-limits.ts";

/** A text after the expansion of its braces. */
export interface ExpandedText {
  readonly text: string;
  /** False if a word is left as written, because all words would exceed a limit. */
  readonly isWhole: boolean;
}

/** Expands braces as bash does, even quoted ones: `{rm,-rf,x}`, `r{m,} x`. Puts spaces between the words that a word becomes. */
export function expandBraces(written: string): ExpandedText {
  if (!written.includes("{")) return { text: written, isWhole: true };
  let room = MAX_EXPANDED;
  let isWhole = true;
  const words = written.split(/(\s+)/).map((word) => {
    const structure = structureOf(word);
    if (structure.size === 0) return word;
    const expanded = wordsOf(word, structure, room);
    isWhole &&= expanded !== undefined;
    room -= expanded === undefined ? 0 : sizeOf(expanded);
    return expanded === undefined ? word : expanded.join(" ");
  });
  return { text: words.join(""), isWhole };
}

/** Returns the indexes of the braces and commas of all complete groups with a comma. */
function structureOf(word: string): ReadonlySet<number> {
  const found = new Set<number>();
  if (!word.includes("{")) return found;
  const open: number[][] = [];
  for (let at = 0; at < word.length; at += 1) {
    const char = word.charAt(at);
    if (char === "{") open.push([at]);
    else if (char === ",") open.at(-1)?.push(at);
    else if (char === "}") {
      const group = open.pop() ?? [];
      if (group.length > 1) for (const index of [...group, at]) found.add(index);
    }
  }
  return found;
}

interface OpenGroup {
  /** The words that come before the group. */
  readonly before: readonly string[];
  readonly alternatives: string[];
}

/** Returns the words to which a shell expands a word; undefined if they would exceed the limits. */
function wordsOf(word: string, structure: ReadonlySet<number>, room: number): readonly string[] | undefined {
  const open: OpenGroup[] = [];
  let words: readonly string[] = [""];
  let from = 0;
  for (const at of [...structure, word.length].sort((a, b) => a - b)) {
    const next = combined(words, [word.slice(from, at)], room);
    if (next === undefined || open.length > MAX_BRACES) return undefined;
    words = next;
    from = at + 1;
    const group = open.at(-1);
    if (word.charAt(at) === "{") {
      open.push({ before: words, alternatives: [] });
      words = [""];
    } else if (group !== undefined) {
      for (const one of words) group.alternatives.push(one);
      words = [""];
      if (word.charAt(at) !== "}") continue;
      const all = combined(group.before, group.alternatives, room);
      if (all === undefined) return undefined;
      words = all;
      open.pop();
    }
  }
  return words;
}

/** Joins each head with each tail; undefined if the result would exceed the room. */
function combined(
  heads: readonly string[],
  tails: readonly string[],
  room: number,
): readonly string[] | undefined {
  const size = tails.length * sizeOf(heads) + heads.length * (sizeOf(tails) - tails.length);
  return size > room ? undefined : heads.flatMap((head) => tails.map((tail) => `${head}${tail}`));
}

/** Returns the number of characters of words, each with a space. */
function sizeOf(words: readonly string[]): number {
  return words.reduce((sum, { length }) => sum + length + 1, 0);
}
