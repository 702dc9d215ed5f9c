import { type MarkdownOptions, markdownRows } from "../../text/markdown/rows.ts";
import { blockSplitter, type MarkdownBlock } from "../../text/markdown/splitter.ts";

/** A text of an agent that comes in pieces and is shown block by block. */
export interface BlockFlow {
  push(piece: string): void;
  /** The rows of the block that is not complete yet. */
  rest(): readonly string[];
  /** Shows the rest. */
  end(): void;
  /** Whether nothing is shown yet. */
  readonly isFresh: boolean;
  /** Whether the next rows may continue the block that was shown last, as in a long listing or a list. */
  readonly isInBlock: boolean;
}

interface BlockFlowOptions {
  /** Called for each block: the width may change. */
  options(): MarkdownOptions;
  /** @param first whether it is the first block of the text */
  show(rows: readonly string[], first: boolean): void;
}

/** Renders Markdown as it comes: a block is shown once it is complete. */
export function markdownFlow({ options, show }: BlockFlowOptions): BlockFlow {
  const splitter = blockSplitter();
  let isFresh = true;
  let isInBlock = false;
  const showBlock = (block: MarkdownBlock): void => {
    const rows = rowsOf(block);
    if (rows.length === 0) return;
    show(rows, isFresh);
    isFresh = false;
  };
  /** The first row of a text is never empty: the pane itself separates texts. */
  const rowsOf = (block: MarkdownBlock): readonly string[] =>
    markdownRows(isFresh ? { ...block, isApart: false } : block, options());
  return {
    push(piece) {
      for (const block of splitter.push(piece)) showBlock(block);
      isInBlock = !isFresh && splitter.isContinuing;
    },
    rest() {
      const block = splitter.rest();
      return block === undefined ? [] : rowsOf(block);
    },
    end() {
      for (const block of splitter.end()) showBlock(block);
      isInBlock = false;
    },
    get isFresh() {
      return isFresh;
    },
    get isInBlock() {
      return isInBlock;
    },
  };
}
