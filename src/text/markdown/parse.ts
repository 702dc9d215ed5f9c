import MarkdownIt, { type MarkdownIt as Parser, type Token } from "markdown-it";
import { ATX_HEADING, FENCE, LIST_MARKER, QUOTE } from "./block-starts.ts";

/** Maximum depth; quotes count once and lists twice. Deeper Markdown is shown as it is: no screen has room for it. */
const MAX_DEPTH = 24;

/** A block and its first line in the source. */
export interface Block {
  readonly token: Token;
  readonly children: readonly Block[];
  readonly start: number;
}

let parser: Parser | undefined;

/** Parses Markdown without control characters. HTML is text, and a reference to a definition elsewhere is not a link. */
export function parseMarkdown(text: string): readonly Block[] {
  parser ??= createParser();
  return blocksOf(parser.parse(text, {}));
}

function createParser(): Parser {
  const markdown = new MarkdownIt({ html: false });
  markdown.disable("reference");
  // The caller decides which addresses become links, and cleans them.
  markdown.validateLink = () => true;
  markdown.normalizeLink = (address) => address;
  markdown.normalizeLinkText = (address) => address;
  const { ruler } = markdown.block;
  const [table] = ruler.getRules("");
  if (table === undefined) throw new Error("The Markdown parser has no rule for tables.");
  // A table's first line is never a heading, a list or a fence: so each line shows what it begins, without the next one.
  ruler.at(
    "table",
    (state, start, end, silent) => {
      const line = state.src.slice(
        (state.bMarks[start] ?? 0) + (state.tShift[start] ?? 0),
        state.eMarks[start],
      );
      const isOther = [ATX_HEADING, FENCE, LIST_MARKER, QUOTE].some((pattern) => pattern.test(line));
      return !isOther && table(state, start, end, silent);
    },
    { alt: ["paragraph", "reference"] },
  );
  ruler.before("table", "deep", (state, start, end, silent) => {
    if (state.level < MAX_DEPTH) return false;
    if (silent) return true;
    const token = state.push("code_block", "code", 0);
    token.content = state.getLines(start, end, state.blkIndent, false);
    token.map = [start, end];
    state.line = end;
    return true;
  });
  return markdown;
}

/** Builds the tree of blocks from the parser's flat list. */
function blocksOf(tokens: readonly Token[]): readonly Block[] {
  const root: { children: Block[] } = { children: [] };
  const open: { token?: Token; children: Block[] }[] = [root];
  for (const token of tokens) {
    if (token.nesting === 1) open.push({ token, children: [] });
    else if (token.nesting === 0) open.at(-1)?.children.push(blockOf(token, []));
    else {
      const done = open.pop();
      if (done?.token !== undefined) open.at(-1)?.children.push(blockOf(done.token, done.children));
    }
  }
  return root.children;
}

function blockOf(token: Token, children: readonly Block[]): Block {
  return { token, children, start: token.map?.[0] ?? 0 };
}

/** Returns the lines of a code block without the blank lines at its end. */
export function codeLines(code: string): string[] {
  const lines = code.split("\n");
  return lines.slice(0, lines.findLastIndex((line) => line.trim() !== "") + 1);
}
