import { type Node, type ParseError, parseTree } from "jsonc-parser";

/**
 * What can still be read of a JSON text that was cut off or written over. A value that stands where the text goes wrong
 * is left out, since half a name is another name; what holds it stays.
 * @returns undefined when nothing can
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
    // Nested deeper than the engine's stack: nobody meant anything by it.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Deeper than any file of a peer, and far from the end of the engine's stack. */
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

/** A text has its closing quote; a number may go on behind the cut. */
function isWhole({ type, offset, length }: Node, errors: readonly ParseError[]): boolean {
  return errors.every((error) => {
    const touches = error.offset <= offset + length && error.offset + error.length >= offset;
    const isBehind = error.offset === offset + length && type === "string";
    return !touches || isBehind;
  });
}
