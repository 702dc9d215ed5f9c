import { withoutEnd } from "./line-ends.ts";

/** The characters that one item of a pattern can stand for. */
type CharSet =
  | { readonly kind: "char"; readonly char: string }
  | { readonly kind: "any" }
  /** Any character of a file name: no slash. */
  | { readonly kind: "name" }
  | { readonly kind: "class"; readonly has: (char: string) => boolean };

/** One character of a set, or any number of them. */
interface Item {
  readonly set: CharSet;
  readonly many: boolean;
}

/** Maximum alternatives, more than a sensible pattern has; a pattern with more counts as one of all paths. */
const MAX_ALTERNATIVES = 128;

const ANY: CharSet = { kind: "any" };
const NAME: CharSet = { kind: "name" };
const SLASH: Item = { set: { kind: "char", char: "/" }, many: false };

/**
 * Returns whether some path is covered by both patterns. A pattern is a path with `*`, `**`, `?`, `[a-z]` and `{a,b}`; a
 * directory (a name without an extension, or a slash at the end) covers everything below it. Returns true if unsure.
 */
export function globsOverlap(a: string, b: string): boolean {
  const others = alternatives(b);
  return alternatives(a).some((one) => others.some((other) => itemsOverlap(one, other)));
}

/** Returns whether a pattern covers a path, which is taken literally. */
export function globCovers(glob: string, path: string): boolean {
  const literal = [...path].map((char): Item => ({ set: { kind: "char", char }, many: false }));
  return alternatives(glob).some((one) => itemsOverlap(one, literal));
}

/** Whether some text matches both lists of items. Compares each pair of positions once. */
function itemsOverlap(a: readonly Item[], b: readonly Item[]): boolean {
  const width = b.length + 1;
  const seen = new Uint8Array((a.length + 1) * width);
  const open: [number, number][] = [[0, 0]];
  const visit = (i: number, j: number): void => {
    if (i > a.length || j > b.length || seen[i * width + j] === 1) return;
    seen[i * width + j] = 1;
    open.push([i, j]);
  };
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const [i, j] = at;
    if (i === a.length && j === b.length) return true;
    const [one, other] = [a[i], b[j]];
    if (one?.many) visit(i + 1, j);
    if (other?.many) visit(i, j + 1);
    if (one !== undefined && other !== undefined && intersect(one.set, other.set)) {
      visit(one.many ? i : i + 1, other.many ? j : j + 1);
    }
  }
  return false;
}

function intersect(a: CharSet, b: CharSet): boolean {
  if (a.kind === "char") return includes(b, a.char);
  if (b.kind === "char") return includes(a, b.char);
  // Unsure: two classes rarely have no common character.
  return true;
}

function includes(set: CharSet, char: string): boolean {
  if (set.kind === "any") return true;
  if (set.kind === "name") return char !== "/";
  return set.kind === "char" ? set.char === char : set.has(char);
}

/** Returns the alternatives of a pattern as lists of items; a path must match one list. */
function alternatives(glob: string): Item[][] {
  return braceAlternatives(glob).flatMap((one) => {
    const lists = itemLists(withoutEnd(one, "/"));
    if (!mayBeDirectory(one)) return lists;
    return [...lists, ...lists.map((items) => [...items, SLASH, { set: ANY, many: true }])];
  });
}

/** Whether a pattern may name a directory: it ends with a slash, or with a name without wildcards and extension. */
function mayBeDirectory(glob: string): boolean {
  const name = glob.split("/").at(-1) ?? "";
  return name === "" || !/[*?[]|.\./.test(name);
}

/** `a{b,c{d,e}}` → `ab`, `acd`, `ace`. A brace without a comma or an end is literal. */
function braceAlternatives(glob: string): string[] {
  const done: string[] = [];
  const open = [glob];
  for (let text = open.pop(); text !== undefined; text = open.pop()) {
    const brace = firstBrace(text);
    if (brace === undefined) done.push(text);
    else if (done.length + open.length + brace.parts.length > MAX_ALTERNATIVES) return ["**"];
    else open.push(...brace.parts.map((part) => `${brace.before}${part}${brace.after}`));
  }
  return done;
}

interface Brace {
  readonly before: string;
  readonly parts: readonly string[];
  readonly after: string;
}

function firstBrace(text: string): Brace | undefined {
  for (let start = text.indexOf("{"); start >= 0; start = text.indexOf("{", start + 1)) {
    const parts = text[start - 1] === "\\" ? undefined : bracedParts(text, start);
    if (parts === undefined || parts.length === 1) continue;
    const length = parts.reduce((sum, part) => sum + part.length + 1, 1);
    return { before: text.slice(0, start), parts, after: text.slice(start + length) };
  }
  return undefined;
}

/** Returns the parts between a brace and its end, separated by commas; undefined without an end. */
function bracedParts(text: string, start: number): string[] | undefined {
  const parts = [""];
  let depth = 1;
  for (const char of text.slice(start + 1)) {
    if (char === "{") depth += 1;
    if (char === "}") depth -= 1;
    if (depth === 0) return parts;
    if (char === "," && depth === 1) parts.push("");
    else parts[parts.length - 1] += char;
  }
  return undefined;
}

/** Parses a pattern without braces. Each `**` + slash may also be nothing, so there may be several lists. */
function itemLists(glob: string): Item[][] {
  let lists: Item[][] = [[]];
  const add = (...items: Item[]): void => {
    for (const list of lists) list.push(...items);
  };
  for (let i = 0; i < glob.length; ) {
    const isStart = i === 0 || glob[i - 1] === "/";
    if (isStart && glob.startsWith("**/", i)) {
      const deep: Item[] = [{ set: ANY, many: true }, SLASH];
      if (lists.length > MAX_ALTERNATIVES / 2) add({ set: ANY, many: true });
      else lists = lists.flatMap((list) => [list, [...list, ...deep]]);
      i += 3;
      continue;
    }
    const { item, length } = itemAt(glob, i);
    add(item);
    i += length;
  }
  return lists;
}

function itemAt(glob: string, at: number): { readonly item: Item; readonly length: number } {
  const char = String.fromCodePoint(glob.codePointAt(at) ?? 0);
  if (glob.startsWith("**", at)) return { item: { set: ANY, many: true }, length: 2 };
  if (char === "*") return { item: { set: NAME, many: true }, length: 1 };
  if (char === "?") return { item: { set: NAME, many: false }, length: 1 };
  const group = char === "[" ? classAt(glob, at) : undefined;
  if (group !== undefined) return { item: { set: group.set, many: false }, length: group.length };
  const isEscape = char === "\\" && at + 1 < glob.length;
  const literal = isEscape ? String.fromCodePoint(glob.codePointAt(at + 1) ?? 0) : char;
  return {
    item: { set: { kind: "char", char: literal }, many: false },
    length: literal.length + (isEscape ? 1 : 0),
  };
}

/** `[a-z_]`, `[!a]` or `[^a]`; undefined without an end: the bracket is literal then. */
function classAt(glob: string, at: number): { readonly set: CharSet; readonly length: number } | undefined {
  const [whole = "", not = "", body = ""] = /^\[([!^]?)(\]?[^\]/]*)\]/.exec(glob.slice(at)) ?? [];
  if (whole === "" || body === "") return undefined;
  const chars = [...body];
  const ranges: [string, string][] = [];
  for (let i = 0; i < chars.length; i += 1) {
    const [from = "", dash, to] = chars.slice(i, i + 3);
    const isRange = dash === "-" && to !== undefined;
    ranges.push([from, isRange ? to : from]);
    if (isRange) i += 2;
  }
  const isIn = (char: string): boolean => ranges.some(([from, to]) => from <= char && char <= to);
  const has = (char: string): boolean => char !== "/" && isIn(char) === (not === "");
  return { set: { kind: "class", has }, length: whole.length };
}
