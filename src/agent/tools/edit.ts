import * as z from "zod/mini";
import { replaceLines, withLineFeeds } from "../../text/line-ends.ts";
import type { Tool, ToolContext } from "../tool.ts";
import {
  absolutePath,
  failed,
  pathInput,
  textInput,
  unchangeableReason,
  unreadReason,
  writeOwn,
} from "./file-access.ts";
import { fileChange, shownChange } from "./file-change.ts";
import { readTextFile } from "./text-file.ts";

const input = z.object({
  file_path: pathInput("The file, preferably an absolute path"),
  old_string: textInput("The text to replace, exactly as it is in the file, without line numbers"),
  new_string: textInput("The new text"),
  replace_all: z.optional(z.boolean()).check(z.describe("Replace all occurrences")),
});

export const editTool: Tool<z.infer<typeof input>> = {
  name: "Edit",
  description:
    "Replaces text in a file. The old text must match exactly, with its indentation, and must occur once, unless replace_all is set: include enough lines around it to make it unique. The line ends of the file are kept. The file must have been read first.",
  input,
  access: ({ file_path }, context) => ({ kind: "write", paths: [absolutePath(file_path, context)] }),
  summary: ({ file_path }) => file_path,
  summaryPath: ({ file_path }) => file_path,
  knownFailure: (call, context, mayRead) => {
    const path = absolutePath(call.file_path, context);
    // The file must not be read if the agent may not know its content.
    const unread = mayRead ? undefined : unreadReason(path, context);
    if (unread !== undefined) return failed(unread);
    const planned = planEdit(path, call, context);
    return "problem" in planned ? failed(planned.problem) : undefined;
  },
  async plannedChange(call, context, mayRead) {
    const path = absolutePath(call.file_path, context);
    const file = mayRead && call.old_string !== "" ? readTextFile(path) : undefined;
    if (file === undefined || file.problem !== undefined) return undefined;
    const edited = editText(path, file, call);
    return "problem" in edited ? undefined : fileChange(file.text, edited.text, context.env);
  },
  async execute(call, context) {
    const path = absolutePath(call.file_path, context);
    const planned = planEdit(path, call, context);
    if ("problem" in planned) return failed(planned.problem);
    const { before, mark, text, replacements, line } = planned;
    writeOwn(path, mark + text, context);
    return {
      ...(await shownChange(before, text, context.env)),
      content: `Changed ${path}: ${replacements} ${replacements === 1 ? "place" : "places"}, the first at line ${line}.`,
      data: { filePath: path, replacements, line },
    };
  },
};

/** Why the call cannot change the file. */
type Problem = { readonly problem: string };

interface EditedText {
  readonly before: string;
  readonly mark: string;
  readonly text: string;
  readonly replacements: number;
  readonly line: number;
}

/** Returns the new text of a file, or why the call cannot succeed. Changes nothing. */
function planEdit(path: string, call: z.infer<typeof input>, context: ToolContext): EditedText | Problem {
  const { old_string, new_string } = call;
  if (withLineFeeds(old_string) === withLineFeeds(new_string))
    return { problem: "old_string and new_string are the same text; nothing was changed." };
  if (old_string === "")
    return { problem: "old_string is empty; nothing was changed. Use Write for a new file." };
  const file = readTextFile(path);
  if (file.problem !== undefined) return { problem: file.problem };
  const problem = unchangeableReason(path, file.stat, context);
  return problem === undefined ? editText(path, file, call) : { problem };
}

/** Returns the edited text of a file with the given text, or why it cannot be edited. */
function editText(
  path: string,
  { text: before, mark, isUtf8 }: Extract<ReturnType<typeof readTextFile>, { readonly text: string }>,
  { old_string, new_string, replace_all = false }: z.infer<typeof input>,
): EditedText | Problem {
  if (!isUtf8)
    return { problem: `${path} is not valid UTF-8; an edit would damage it. Nothing was changed.` };
  const { text, count, line } = replaceLines(before, old_string, new_string);
  if (count === 0)
    return {
      problem: `old_string does not occur in ${path}; nothing was changed. Read the lines again and copy the text exactly.`,
    };
  if (count > 1 && !replace_all) {
    return {
      problem: `old_string occurs ${count} times in ${path}; nothing was changed. Include more lines around it, or set replace_all.`,
    };
  }
  return { before, mark, text, replacements: count, line };
}
