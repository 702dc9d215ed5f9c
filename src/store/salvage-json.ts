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
  return readable(tree, errors);
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

function readable(node: Node, errors: readonly ParseError[], depth = 0): unknown {
  if (depth > MAX_DEPTH) return undefined;
  const below = (child: Node): unknown => readable(child, errors, depth + 1);
  const children = node.children ?? [];
  if (node.type === "array") return children.map(below).filter((value) => value !== undefined);
  if (node.type !== "object") return isWhole(node, errors) ? node.value : undefined;
  const fields = children.flatMap(({ children: [key, value] = [] }) => {
    const kept = key && value && isWhole(key, errors) ? below(value) : undefined;
    return kept === undefined ? [] : [[String(key?.value), kept] as const];
  });
  return Object.fromEntries(fields);
}

/** True if a value is complete. A string ends with its quote, but a number may continue after the damage. */
function isWhole({ type, offset, length }: Node, errors: readonly ParseError[]): boolean {
  return errors.every((error) => {
    const touches = error.offset <= offset + length && error.offset + error.length >= offset;
    const isAfter = error.offset === offset + length && type === "string";
    return !touches || isAfter;
  });
}
