import { type Node, type ParseError, parseTree } from "jsonc-parser";

/**
 * Returns the readable part of a JSON text that was truncated or overwritten. A value at the damage is left out, since
 * half a name is another name; the array or object around it stays.
 * @returns undefined if nothing is readable
 */
export function salvageJson(text: string): unknown {
  const errors: ParseError[] = [];
  const tree = treeOf(text, errors);
  if (tree === undefined || (tree.type !== "object" && tree.type !== "array")) return undefined;
  return readable(tree, new Damages(errors));
}

function treeOf(text: string, errors: ParseError[]): Node | undefined {
  try {
    return parseTree(text, errors, { allowTrailingComma: true });
  } catch (error) {
    // Nested deeper than the engine's stack: not a file of any real program.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Deeper than any file of another program, and far below the limit of the engine's stack. */
const MAX_DEPTH = 500;

function readable(node: Node, damages: Damages, depth = 0): unknown {
  if (depth > MAX_DEPTH) return undefined;
  const below = (child: Node): unknown => readable(child, damages, depth + 1);
  const children = node.children ?? [];
  if (node.type === "array") return children.map(below).filter((value) => value !== undefined);
  if (node.type !== "object") return damages.isWhole(node) ? node.value : undefined;
  const fields = children.flatMap(({ children: [key, value] = [] }) => {
    const kept = key && value && damages.isWhole(key) ? below(value) : undefined;
    return kept === undefined ? [] : [[String(key?.value), kept] as const];
  });
  return Object.fromEntries(fields);
}

/** The places where a text cannot be parsed. A search stays fast if there are many. */
class Damages {
  /** Ordered by their start. */
  readonly #errors: readonly ParseError[];
  /** For each error, the furthest end of all errors up to this one. */
  readonly #ends: readonly number[];

  constructor(errors: readonly ParseError[]) {
    this.#errors = errors.toSorted((a, b) => a.offset - b.offset);
    let end = 0;
    this.#ends = this.#errors.map(({ offset, length }) => {
      end = Math.max(end, offset + length);
      return end;
    });
  }

  /** True if a value is complete. A string ends with its quote, but a number may continue after the damage. */
  isWhole({ type, offset, length }: Node): boolean {
    const last = type === "string" ? offset + length - 1 : offset + length;
    const before = this.#countUntil(last);
    return before === 0 || (this.#ends[before - 1] ?? 0) < offset;
  }

  /** Returns how many errors begin at this offset or before. */
  #countUntil(offset: number): number {
    let [from, to] = [0, this.#errors.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#errors[middle]?.offset ?? 0) <= offset) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
