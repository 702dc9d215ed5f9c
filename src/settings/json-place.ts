import { type Node, type ParseError, parseTree } from "jsonc-parser";

/**
 * Returns the line of a field in a JSON text, counted from 1; of the nearest object around it if the text does not have the field.
 * Undefined if the text cannot be read.
 */
export function lineOfField(text: string, path: readonly PropertyKey[]): number | undefined {
  const tree = parsed(text).tree;
  if (tree === undefined) return undefined;
  let offset = tree.offset;
  let node: Node | undefined = tree;
  for (const key of path) {
    const [at, next]: readonly [number, Node | undefined] = childOf(node, key);
    if (next === undefined) break;
    [offset, node] = [at, next];
  }
  return lineAt(text, offset);
}

/** Returns the line of the first error in a text that is not JSON; undefined if it is unknown. */
export function lineOfError(text: string): number | undefined {
  const [first] = parsed(text).errors;
  return first === undefined ? undefined : lineAt(text, first.offset);
}

/** Of several keys of one name, the last one counts. */
function childOf(node: Node, key: PropertyKey): readonly [offset: number, Node | undefined] {
  const { children = [] } = node;
  if (node.type === "array") {
    const item = typeof key === "number" ? children[key] : undefined;
    return [item?.offset ?? 0, item];
  }
  const property = children.findLast((child) => child.children?.[0]?.value === key);
  return [property?.offset ?? 0, property?.children?.[1]];
}

function parsed(text: string): {
  readonly tree: Node | undefined;
  readonly errors: readonly ParseError[];
} {
  const errors: ParseError[] = [];
  try {
    return { tree: parseTree(text, errors, { disallowComments: true }), errors };
  } catch (error) {
    // Nested too deeply for this parser; the error is then reported without a line.
    if (error instanceof RangeError) return { tree: undefined, errors: [] };
    throw error;
  }
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}
