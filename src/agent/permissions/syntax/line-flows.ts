import type { SyntaxNode } from "unbash";

/** Where a command's output goes: to commands of the same group with the same stage or a later one. */
export interface Flow {
  readonly group: number;
  /** The position in a pipeline. Commands inside one part of it share its stage. */
  readonly stage: number;
  /** A variable keeps the output, so that any later command may get it. */
  readonly isKept?: boolean;
}

/** Assigns each command of a syntax tree to the pipeline, or to the command with a substitution, around it. */
export class Flows {
  readonly #known = new Map<SyntaxNode, Flow>();
  #groups = 0;

  of(node: SyntaxNode): Flow {
    const flow = this.#known.get(node) ?? { group: this.#next(), stage: 0 };
    this.#known.set(node, flow);
    return flow;
  }

  set(node: SyntaxNode, flow: Flow | undefined): void {
    if (flow !== undefined) this.#known.set(node, flow);
  }

  /** Passes the flow of a node to the nodes inside it. */
  pass(from: SyntaxNode, to: readonly SyntaxNode[]): void {
    const flow = this.#known.get(from);
    if (flow !== undefined) for (const node of to) this.#known.set(node, flow);
    else if (from.type === "Assignment")
      for (const node of to) this.#known.set(node, { group: this.#next(), stage: 0, isKept: true });
    else if (from.type === "Pipeline" && from.commands.length > 1) {
      const group = this.#next();
      for (const [stage, node] of from.commands.entries()) this.#known.set(node, { group, stage });
    }
  }

  #next(): number {
    this.#groups += 1;
    return this.#groups;
  }
}
