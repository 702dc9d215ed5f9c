import { resolve } from "node:path";
import { TeamError } from "../../errors.ts";
import { gitDirectoriesOf } from "../../git/repository.ts";
import { readText } from "../../os/files/fs.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import { isShortFile } from "../../os/files/user-files.ts";
import { plainText } from "../../protocol/messages.ts";
import { type Delivery, sendMessage } from "../../team/mailbox/send.ts";
import { shortened } from "../../text/characters/cut-text.ts";

import type { OperationContext } from "../context.ts";
import { workOf } from "./agent-work.ts";

/** A remark about a line of an agent's work. */
export interface ReviewComment {
  /** Relative to the top of the agent's worktree, or of the directory's. */
  readonly path: string;
  /** From 1, in the file as it is now. */
  readonly line: number;
  /** The last line, if it is about several. */
  readonly lastLine?: number;
  readonly text: string;
  /** Where the comment is in its file, for errors: `line 3`. */
  readonly at?: string;
  /** The lines as the reviewer saw them; by default, they are read from the file. */
  readonly quote?: readonly string[];
  /** The line was removed: its number is that in the file before the change. */
  readonly isRemoved?: boolean;
}

/** A comment with the lines that it is about. */
interface QuotedComment extends ReviewComment {
  readonly quote: readonly string[];
}

const COMMENT = /^([^\s:][^:]*):(\d{1,7})(?:-(\d{1,7}))?(?::\d+)?:\s*(\S.*)$/;
/** An object, or a list that is empty or contains objects: a path may begin with a bracket, as `[id]/page.tsx` does. */
const JSON_START = /^\s*(?:\{|\[\s*[\]{])/;
/** How many wrong lines an error names. */
const MAX_NAMED = 5;
/** Lines of a range that are quoted, and characters of a line. */
const MAX_QUOTED_LINES = 10;
const MAX_QUOTED_CHARS = 200;

/**
 * Parses comments: lines as `path:line: text` or `path:first-last: text` (a column after the line is ignored, as compilers and
 * linters print it), blank lines, and indented lines, which continue the previous comment. Or JSON: a list of
 * `{path, line, lastLine?, text}`, or an object with that list as `comments`.
 * @param source the name of the file, for errors
 * @throws TeamError INVALID_INPUT with the number of each wrong line
 */
export function parseComments(text: string, source: string): readonly ReviewComment[] {
  const comments = JSON_START.test(text) ? parseJson(text, source) : parseLines(text, source);
  if (comments.length > 0) return comments;
  throw new TeamError("INVALID_INPUT", `${source} has no comments; nothing was sent.`, { hint: FORM_HINT });
}

const FORM_HINT = "Write one comment on each line: src/parse.ts:12: use the cache here";

function parseLines(text: string, source: string): readonly ReviewComment[] {
  const comments: ReviewComment[] = [];
  const wrong: string[] = [];
  for (const [i, row] of text.split(/\r?\n/).entries()) {
    const [, path = "", line = "", lastLine, words = ""] = COMMENT.exec(row) ?? [];
    const last = comments.at(-1);
    if (row.trim() === "") continue;
    if (/^\s/.test(row) && last !== undefined) {
      comments[comments.length - 1] = { ...last, text: `${last.text}\n${row.trim()}` };
    } else if (words === "" || !isRange(Number(line), lastLine)) {
      wrong.push(`line ${i + 1}: ${JSON.stringify(shortened(row, 80))}`);
    } else {
      const range = lastLine === undefined ? {} : { lastLine: Number(lastLine) };
      comments.push({ path, line: Number(line), ...range, text: words.trim(), at: `line ${i + 1}` });
    }
  }
  if (wrong.length > 0) throw wrongComments(source, wrong, "is not of the form path:line: text");
  return comments;
}

function isRange(first: number, last: string | number | undefined): boolean {
  return first >= 1 && (last === undefined || Number(last) >= first);
}

function parseJson(text: string, source: string): readonly ReviewComment[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new TeamError("INVALID_INPUT", `${source} is not valid JSON: ${error.message}. Nothing was sent.`, {
      hint: FORM_HINT,
    });
  }
  const list = Array.isArray(value) ? value : (value as { readonly comments?: unknown }).comments;
  if (!Array.isArray(list))
    throw new TeamError("INVALID_INPUT", `${source} has no list of comments; nothing was sent.`, {
      hint: 'Write a JSON list: [{"path": "src/parse.ts", "line": 12, "text": "use the cache here"}]',
    });
  const wrong: string[] = [];
  const comments = list.flatMap((entry: unknown, i): ReviewComment[] => {
    const comment = commentOf(entry, `entry ${i + 1}`);
    if (comment === undefined) wrong.push(`entry ${i + 1}`);
    return comment === undefined ? [] : [comment];
  });
  if (wrong.length > 0)
    throw wrongComments(
      source,
      wrong,
      "needs a path, a line of at least 1, and text; lastLine must not be less than line",
    );
  return comments;
}

function commentOf(entry: unknown, at: string): ReviewComment | undefined {
  if (typeof entry !== "object" || entry === null) return undefined;
  const { path, line, lastLine, text } = entry as Readonly<Record<string, unknown>>;
  if (typeof path !== "string" || path === "" || typeof text !== "string" || text.trim() === "")
    return undefined;
  if (!isLineNumber(line) || (lastLine !== undefined && !isLineNumber(lastLine))) return undefined;
  if (!isRange(line, lastLine)) return undefined;
  return { path, line, ...(lastLine === undefined ? {} : { lastLine }), text: text.trim(), at };
}

function isLineNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1;
}

function wrongComments(source: string, wrong: readonly string[], rule: string): TeamError {
  const more = wrong.length > MAX_NAMED ? [`${wrong.length - MAX_NAMED} more`] : [];
  return new TeamError(
    "INVALID_INPUT",
    `Nothing was sent, because a comment in ${source} ${rule}:\n${[...wrong.slice(0, MAX_NAMED), ...more].join("\n")}`,
    { hint: FORM_HINT, details: { wrong } },
  );
}

/**
 * Sends comments to an agent as one message, each with its place and the lines that it is about.
 * @throws TeamError INVALID_INPUT if a file or line does not exist, RECIPIENT_NOT_FOUND; nothing is sent then
 */
export async function sendComments(
  ctx: OperationContext,
  agent: string,
  comments: readonly ReviewComment[],
): Promise<Delivery> {
  const { directory } = workOf(ctx.ref, agent);
  const top = gitDirectoriesOf(directory)?.top ?? directory;
  const quoted = comments.map((comment) => ({
    ...comment,
    quote: comment.quote?.map(shortRow) ?? quoteOf(top, comment),
  }));
  const text = plainText(messageText(top, quoted));
  const count = `${comments.length} review ${comments.length === 1 ? "comment" : "comments"}`;
  return sendMessage(ctx.ref, { from: ctx.actor, to: agent, text, summary: count }, ctx.clock);
}

function messageText(top: string, comments: readonly QuotedComment[]): string {
  const [first] = comments;
  const intro =
    comments.length === 1 && first !== undefined
      ? `A review comment on your changes in ${top}.`
      : `${comments.length} review comments on your changes in ${top}.`;
  return [intro, ...comments.map(commentText)].join("\n\n");
}

function commentText({ path, line, lastLine, text, quote, isRemoved }: QuotedComment): string {
  const range = lastLine === undefined || lastLine === line ? `${line}` : `${line}-${lastLine}`;
  const where = isRemoved === true ? `${path}:${range} before the change` : `${path}:${range}`;
  // As Markdown, a text directly below a quote would be a part of it.
  return `${[where, ...quote.map((row) => `> ${row}`)].join("\n")}\n\n${text}`;
}

function shortRow(row: string): string {
  return shortened(row, MAX_QUOTED_CHARS);
}

/** Reads the lines of a comment. The agent owns the files: a link must not lead out of its directory, to a file of the user. */
function quoteOf(top: string, { path, line, lastLine = line, at }: ReviewComment): readonly string[] {
  const place = at === undefined ? path : `${path} (${at} of the comments)`;
  const real = realPathOf(resolve(top, path));
  const isInside = real.startsWith(`${realPathOf(top)}/`);
  const text = isInside && isShortFile(real) ? readText(real) : undefined;
  if (text === undefined)
    throw new TeamError("INVALID_INPUT", `${place} is not a text file in ${top}; nothing was sent.`, {
      hint: `Give paths relative to that directory, as teams diff prints them.`,
    });
  const rows = text.replace(/\n$/, "").split(/\r?\n/);
  if (lastLine > rows.length)
    throw new TeamError(
      "INVALID_INPUT",
      `${place} has ${rows.length} lines, so there is no line ${lastLine}; nothing was sent.`,
      { hint: "Count lines in the file as it is now, after the changes." },
    );
  const wanted = rows.slice(line - 1, lastLine).map(shortRow);
  return wanted.length <= MAX_QUOTED_LINES ? wanted : [...wanted.slice(0, MAX_QUOTED_LINES), "…"];
}
