import { dirname } from "node:path";
import * as z from "zod/mini";
import { pathStat } from "../../os/files/user-files.ts";
import { BYTE_ORDER_MARK, withoutMark } from "../../text/characters/byte-order-mark.ts";
import { isCarriageReturned, withLineEndsOf } from "../../text/line-ends.ts";
import type { Tool, ToolContext } from "../tool.ts";
import { absolutePath, failed, pathInput, textInput, unchangeableReason, writeOwn } from "./file-access.ts";
import { fileChange, shownChange } from "./file-change.ts";
import { readTextFile } from "./text-file.ts";

const input = z.object({
  file_path: pathInput("The file, preferably an absolute path"),
  content: textInput("The file's whole new content"),
});

export const writeTool: Tool<z.infer<typeof input>> = {
  name: "Write",
  description:
    "Writes a whole file and creates its parent directories. An existing file is replaced, and must have been read first; its byte order mark and its line ends (CRLF, CR) are kept.",
  input,
  access: ({ file_path }, context) => ({ kind: "write", paths: [absolutePath(file_path, context)] }),
  summary: ({ file_path }) => file_path,
  summaryPath: ({ file_path }) => file_path,
  knownFailure: ({ file_path }, context, mayRead) => {
    const problem = mayRead ? writeProblem(absolutePath(file_path, context), context) : undefined;
    return problem === undefined ? undefined : failed(problem);
  },
  async plannedChange({ file_path, content }, context, mayRead) {
    const before = mayRead ? readBefore(absolutePath(file_path, context)) : "unknown";
    if (before === "unknown") return undefined;
    return fileChange(before?.text, withFormatOf(before, content).text, context.env);
  },
  async execute({ file_path, content }, context) {
    const path = absolutePath(file_path, context);
    const { kind } = pathStat(path);
    const problem = writeProblem(path, context);
    if (problem !== undefined) return failed(problem);
    const before = readBefore(path);
    const { mark, text, kept } = withFormatOf(before, content);
    writeOwn(path, mark + text, context);
    const lines = content === "" ? 0 : content.replace(/\n$/, "").split("\n").length;
    const done = kind === "file" ? "Replaced" : "Created";
    return {
      ...(before === "unknown" ? {} : await shownChange(before?.text, text, context.env)),
      content: [`${done} ${path} (${lines} ${lines === 1 ? "line" : "lines"}).`, ...kept].join(" "),
      data: { filePath: path, lines, created: kind === "missing" },
    };
  },
};

interface Content {
  readonly text: string;
  readonly mark: string;
}

interface Before extends Content {
  readonly isUtf8: boolean;
}

/**
 * Returns a text with the byte order mark and the line ends of the file that it replaces: a model neither sees nor writes them. A
 * text with carriage returns stays as it is.
 */
function withFormatOf(
  before: Before | undefined | "unknown",
  content: string,
): Content & { readonly kept: readonly string[] } {
  const given = withoutMark(content);
  const mark = given === content ? "" : BYTE_ORDER_MARK;
  if (before === undefined || before === "unknown") return { mark, text: given, kept: [] };
  const text = given.includes("\r\n") ? given : withLineEndsOf(before.text, given);
  const kept = [
    ...(text === given ? [] : [`It keeps its ${isCarriageReturned(before.text) ? "CR" : "CRLF"} line ends.`]),
    ...(before.mark === "" || mark !== "" ? [] : ["It keeps its byte order mark."]),
    ...(before.isUtf8 ? [] : ["It was not valid UTF-8, and is now."]),
  ];
  return { mark: before.mark || mark, text, kept };
}

/** Returns the text of a file; undefined if the file does not exist, and `unknown` if it is binary or very large. */
function readBefore(path: string): Before | undefined | "unknown" {
  const file = readTextFile(path);
  if (file.problem === undefined) return file;
  return file.missing ? undefined : "unknown";
}

/** Returns why a file cannot be written; undefined if it can. Changes nothing. */
function writeProblem(path: string, context: ToolContext): string | undefined {
  const stat = pathStat(path);
  if (stat.kind === "directory") return `${path} is a directory; nothing was written.`;
  if (stat.kind === "special") return `${path} is not a regular file; nothing was written.`;
  const above = stat.kind === "missing" ? fileInPath(path) : undefined;
  if (above !== undefined) return `${above} is not a directory; nothing was written.`;
  return stat.kind === "file" ? unchangeableReason(path, stat, context) : undefined;
}

/** Returns the nearest existing ancestor of a path if it is not a directory. */
function fileInPath(path: string): string | undefined {
  let above = dirname(path);
  while (pathStat(above).kind === "missing" && above !== dirname(above)) above = dirname(above);
  return pathStat(above).kind === "directory" ? undefined : above;
}
