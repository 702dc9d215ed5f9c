/** A part of a line. */
export interface Part {
  readonly text: string;
  readonly changed: boolean;
}

/** Maximum pairs of words to compare; in longer lines, everything between the first and the last difference counts as changed. */
const MAX_PAIRS = 10_000;
/** Minimum share of a line that must be unchanged; in two lines that differ more, no word is marked. */
const MIN_SHARED = 0.4;

/** Splits a removed line and the line that replaces it into equal and changed parts. */
export function changedWords(before: string, after: string): readonly [readonly Part[], readonly Part[]] {
  const head = commonHead(before, after);
  const tail = commonTail(before, after, head);
  const a = wordsOf(before.slice(head, before.length - tail));
  const b = wordsOf(after.slice(head, after.length - tail));
  const kept = commonWords(a, b);
  const marked = (line: string, words: readonly string[], own: ReadonlySet<number>): Part[] => [
    ...(head === 0 ? [] : [plain(line.slice(0, head))]),
    ...partsOf(words, own),
    ...(tail === 0 ? [] : [plain(line.slice(line.length - tail))]),
  ];
  const [left, right] = [marked(before, a, kept.before), marked(after, b, kept.after)];
  const shared = left.reduce((sum, { text, changed }) => sum + (changed ? 0 : visibleLength(text)), 0);
  const longest = Math.max(visibleLength(before), visibleLength(after));
  return shared < longest * MIN_SHARED ? [[plain(before)], [plain(after)]] : [left, right];
}

/** Returns the length of the common start of two lines, without a part of a word. */
function commonHead(a: string, b: string): number {
  const least = Math.min(a.length, b.length);
  let same = 0;
  while (same < least && a.charCodeAt(same) === b.charCodeAt(same)) same += 1;
  while (same > 0 && (splitsWord(a, same) || splitsWord(b, same))) same -= 1;
  return same;
}

/** Returns the length of the common end of two lines after their common start, without a part of a word. */
function commonTail(a: string, b: string, head: number): number {
  const most = Math.min(a.length, b.length) - head;
  let same = 0;
  while (same < most && a.charCodeAt(a.length - 1 - same) === b.charCodeAt(b.length - 1 - same)) same += 1;
  while (same > 0 && (splitsWord(a, a.length - same) || splitsWord(b, b.length - same))) same -= 1;
  return same;
}

/** Whether a place in a line is in the middle of a word, or of a character in two units. */
function splitsWord(line: string, at: number): boolean {
  const [left, right] = [line.charCodeAt(at - 1), line.charCodeAt(at)];
  return (isWordChar(left) && isWordChar(right)) || (left >= 0xd800 && left < 0xdc00);
}

function isWordChar(code: number): boolean {
  const isLetter = (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
  return isLetter || (code >= 0x30 && code <= 0x39) || code === 0x5f;
}

function wordsOf(line: string): string[] {
  return line.match(/\w+|\s+|[^\w\s]/gu) ?? [];
}

function visibleLength(text: string): number {
  let length = 0;
  for (let i = 0; i < text.length; i += 1) if (text.charCodeAt(i) > 0x20) length += 1;
  return length;
}

function plain(text: string): Part {
  return { text, changed: false };
}

function partsOf(words: readonly string[], kept: ReadonlySet<number>): Part[] {
  const parts: { text: string; changed: boolean }[] = [];
  for (const [i, word] of words.entries()) {
    const changed = !kept.has(i);
    const last = parts.at(-1);
    if (last?.changed === changed) last.text += word;
    else parts.push({ text: word, changed });
  }
  return parts;
}

/** Returns the indexes of the longest common sequence of words in both lists. */
function commonWords(
  a: readonly string[],
  b: readonly string[],
): { readonly before: ReadonlySet<number>; readonly after: ReadonlySet<number> } {
  const before = new Set<number>();
  const after = new Set<number>();
  if (a.length * b.length > MAX_PAIRS || a.length === 0 || b.length === 0) return { before, after };
  const width = b.length + 1;
  // The length of the longest common sequence that starts at each pair.
  const lengths = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) {
      before.add(i);
      after.add(j);
      i += 1;
      j += 1;
    } else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return { before, after };
}
