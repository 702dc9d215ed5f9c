import * as z from "zod/mini";
import { characterCount, cutText } from "../../text/characters/cut-text.ts";
import { isCarriageReturned } from "../../text/line-ends.ts";
import type { Tool } from "../tool.ts";
import { absolutePath, failed, markSeen, pathInput } from "./file-access.ts";
import { readTextFile } from "./text-file.ts";

/** Default number of lines of one call. */
const DEFAULT_LINES = 2000;
/** Maximum characters shown of a line. */
const MAX_LINE = 2000;

const input = z.object({
  file_path: pathInput("The file, preferably an absolute path"),
  offset: z.optional(z.int().check(z.minimum(1))).check(z.describe("The first line, counted from 1")),
  limit: z
    .optional(z.int().check(z.minimum(1)))
    .check(z.describe(`Maximum number of lines (default: ${DEFAULT_LINES})`)),
});

export const readTool: Tool<z.infer<typeof input>> = {
  name: "Read",
  description: `Reads a text file. Each line begins with its number and a tab. Without offset and limit it returns the first ${DEFAULT_LINES} lines; lines of more than ${MAX_LINE} characters are truncated. Images and other binary files are refused.`,
  input,
  parallel: true,
  access: ({ file_path }, context) => ({ kind: "read", paths: [absolutePath(file_path, context)] }),
  summary: ({ file_path, offset, limit }) =>
    offset === undefined && limit === undefined
      ? file_path
      : `${file_path}:${offset ?? 1}${limit === undefined ? "" : `+${limit}`}`,
  summaryPath: ({ file_path }) => file_path,
  async execute({ file_path, offset = 1, limit = DEFAULT_LINES }, context) {
    const path = absolutePath(file_path, context);
    const file = readTextFile(path);
    if (file.problem !== undefined) return failed(file.problem);
    markSeen(path, file.stat, context);
    const lines = linesOf(file.text);
    const shown = lines.slice(offset - 1, offset - 1 + limit);
    return {
      content: describe(path, lines.length, offset, shown),
      data: { filePath: path, content: shown.join("\n"), startLine: offset, totalLines: lines.length },
    };
  },
};

/** Splits a text into lines; a line end at its end does not begin another line. */
function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split(isCarriageReturned(text) ? "\r" : "\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function describe(path: string, total: number, offset: number, shown: readonly string[]): string {
  if (total === 0) return `${path} is empty.`;
  if (shown.length === 0) return `${path} has no line ${offset}; its last line is ${total}.`;
  const numbered = shown.map(
    (line, i) => `${String(offset + i).padStart(6)}\t${cut(line.replace(/\r$/, ""))}`,
  );
  const last = offset + shown.length - 1;
  const rest =
    last < total ? [`(lines ${offset} to ${last} of ${total}; continue with offset ${last + 1})`] : [];
  return [...numbered, ...rest].join("\n");
}

function cut(line: string): string {
  return cutText(line, MAX_LINE, () => `… (${characterCount(line)} characters)`);
}
