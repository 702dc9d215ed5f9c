import type { ParsedScript, SyntaxNode } from "unbash";

/** Maximum nesting of groups, substitutions and expansions: the parser skips much deeper ones. */
const MAX_DEPTH = 100;

const NESTS: ReadonlySet<string> = new Set([
  ...["CommandExpansion", "ProcessSubstitution", "ParameterExpansion", "ArithmeticExpansion", "ExtendedGlob"],
  ...["Subshell", "BraceGroup", "If", "While", "For", "Select", "Case", "Function", "Coproc"],
  ...["ArithmeticFor", "ArithmeticCommand", "ArithmeticGroup", "ArithmeticUnary", "ArithmeticTernary"],
  ...["ArithmeticCommandExpansion", "TestCommand", "TestGroup", "TestNot", "BraceExpansion"],
]);

interface Place {
  readonly depth: number;
  /** The text to which the positions of the node refer. */
  readonly source: string;
}

/** The depth of each node of a syntax tree, and the parts that the parser did not read. */
export class Depths {
  readonly #known = new Map<SyntaxNode, Place>();

  /** @param source the text of the script */
  begin(script: SyntaxNode, source: string): void {
    this.#known.set(script, { depth: 0, source });
  }

  /** Passes the depth of a node to the nodes inside it. */
  pass(from: SyntaxNode, to: readonly SyntaxNode[]): void {
    const { depth, source } = this.#of(from);
    const own = from.type === "Script" ? (from.source ?? source) : source;
    const place = { depth: NESTS.has(from.type) ? depth + 1 : depth, source: own };
    for (const node of to) this.#known.set(node, place);
  }

  #of(node: SyntaxNode): Place {
    return this.#known.get(node) ?? { depth: 0, source: "" };
  }

  /** Returns whether the parser may have skipped a part of a node. */
  isTooDeep(node: SyntaxNode): boolean {
    const { depth, source } = this.#of(node);
    return depth > MAX_DEPTH || isSkipped(node, source);
  }
}

function isSkipped(node: SyntaxNode, source: string): boolean {
  switch (node.type) {
    case "CommandExpansion":
    case "ArithmeticCommandExpansion":
    case "ProcessSubstitution":
      return node.script === undefined;
    case "ArithmeticExpansion":
      return node.expression === undefined && EXPANDED.test(node.text.slice(3));
    case "ArithmeticCommand":
      return node.expression === undefined && EXPANDED.test(node.body);
    case "ArithmeticFor": {
      const isWhole = [node.initialize, node.test, node.update].every((part) => part !== undefined);
      return !isWhole && EXPANDED.test(source.slice(node.pos, node.body.pos));
    }
    case "Word":
    case "ArithmeticWord":
      return node.parts === undefined && EXPANDED.test("text" in node ? node.text : node.value);
    case "Script":
      return hasDepthError(node);
    default:
      return false;
  }
}

/** A substitution that no backslash quotes. */
const EXPANDED = /(?<!\\)(?:\\\\)*(?:\$[({[]|`)/;

function hasDepthError(script: ParsedScript): boolean {
  return script.errors?.some(({ message }) => message.includes("nesting depth")) === true;
}
