import * as z from "zod/mini";
import type { Tool } from "../tool.ts";
import { absolutePath, failed, pathInput, unchangeableReason, writeOwn } from "./file-access.ts";
import { readTextFile } from "./text-file.ts";

const input = z.object({
  file_path: pathInput("The file, preferably an absolute path"),
  old_string: z
    .string()
    .check(z.describe("The text to replace, exactly as it is in the file, without line numbers")),
  new_string: z.string().check(z.describe("The new text")),
  replace_all: z.optional(z.boolean()).check(z.describe("Replace all occurrences")),
});

export const editTool: Tool<z.infer<typeof input>> = {
  name: "Edit",
  description:
    "Replaces text in a file. The old text must match exactly, with its indentation, and must occur once, unless replace_all is set: include enough lines around it to make it unique. The file must have been read first.",
  input,
  access: ({ file_path }, context) => ({ kind: "write", paths: [absolutePath(file_path, context)] }),
  summary: ({ file_path }) => file_path,
  async execute({ file_path, old_string, new_string, replace_all = false }, context) {
    const path = absolutePath(file_path, context);
    if (old_string === new_string)
      return failed("old_string and new_string are the same; nothing was changed.");
    if (old_string === "") return failed("old_string is empty; use Write for a new file.");
    const file = readTextFile(path);
    if (file.problem !== undefined) return failed(file.problem);
    const problem = unchangeableReason(path, file.look, context);
    if (problem !== undefined) return failed(problem);
    if (file.text.includes("\uFFFD"))
      return failed(`${path} is not valid UTF-8; an edit would damage it. Nothing was changed.`);
    const [from, to] = lineEndsOf(file.text, old_string, new_string);
    const count = file.text.split(from).length - 1;
    if (count === 0)
      return failed(`old_string does not occur in ${path}; read the lines again and copy it exactly.`);
    if (count > 1 && !replace_all) {
      return failed(
        `old_string occurs ${count} times in ${path}; include more lines around it, or set replace_all.`,
      );
    }
    const line = file.text.slice(0, file.text.indexOf(from)).split("\n").length;
    writeOwn(path, file.text.split(from).join(to), context);
    return {
      content: `Changed ${path}: ${count} ${count === 1 ? "place" : "places"}, the first at line ${line}.`,
      data: { filePath: path, replacements: count, line },
    };
  },
};

/** Adds carriage returns to both texts if the file has them: Read shows lines without them. */
function lineEndsOf(text: string, from: string, to: string): [string, string] {
  if (text.includes(from) || !text.includes("\r\n")) return [from, to];
  const withReturns = (part: string): string => part.replace(/\r?\n/g, "\r\n");
  return [withReturns(from), withReturns(to)];
}
