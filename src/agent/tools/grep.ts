import * as z from "zod/mini";
import { pathStat } from "../../os/files/user-files.ts";
import { cutText } from "../../text/characters/cut-text.ts";
import type { Tool } from "../tool.ts";
import { absolutePath, failed, hasNoNul, withoutDenied } from "./file-access.ts";
import { shownPath } from "./glob.ts";
import { type GrepMatch, search } from "./grep-search.ts";
import { BYTES_NOTE, FILE_TYPES, globOfType } from "./list-files.ts";
import { SearchGaps } from "./search-gaps.ts";
import { readTextFile } from "./text-file.ts";

/** Default number of lines or files in one result. */
const DEFAULT_LIMIT = 250;
/** Maximum characters shown of a line. */
const MAX_LINE = 500;

const lines = z.optional(z.int().check(z.minimum(0), z.maximum(1000)));
const input = z.object({
  pattern: z
    .string()
    .check(
      z.minLength(1),
      z.refine(hasNoNul, "contains a NUL character"),
      z.describe("A regular expression"),
    ),
  path: z
    .optional(z.string().check(z.refine(hasNoNul, "contains a NUL character")))
    .check(z.describe("The file or directory to search (default: the working directory)")),
  glob: z.optional(z.string()).check(z.describe("Only matching files, like *.ts or src/**/*.{js,ts}")),
  type: z.optional(z.string()).check(z.describe(`Only files of this type: ${FILE_TYPES.join(", ")}`)),
  output_mode: z
    .optional(z.enum(["content", "files_with_matches", "count"]))
    .check(
      z.describe("The matching lines, only the files (the default), or the number of matching lines in each"),
    ),
  "-i": z.optional(z.boolean()).check(z.describe("Ignore case")),
  "-n": z.optional(z.boolean()).check(z.describe("Show line numbers (content; default: true)")),
  "-A": lines.check(z.describe("Lines after each match (content)")),
  "-B": lines.check(z.describe("Lines before each match (content)")),
  "-C": lines.check(z.describe("Lines on both sides of each match (content)")),
  head_limit: z
    .optional(z.int().check(z.minimum(1)))
    .check(z.describe(`Maximum number of results (default: ${DEFAULT_LIMIT})`)),
  offset: z
    .optional(z.int().check(z.minimum(0)))
    .check(z.describe("How many results to skip, to continue after an earlier call")),
  multiline: z.optional(z.boolean()).check(z.describe("Let the pattern match across line ends")),
});
type Input = z.infer<typeof input>;

export const grepTool: Tool<Input> = {
  name: "Grep",
  description:
    "Searches the content of files with a regular expression. Binary files and files that git ignores are not searched.",
  input,
  parallel: true,
  access: ({ path = "." }, context) => ({ kind: "read", paths: [absolutePath(path, context)] }),
  summary: ({ pattern, path, glob }) =>
    [pattern, ...(glob ? [glob] : []), ...(path ? [`in ${path}`] : [])].join(" "),
  summaryPath: ({ path }) => path,
  async execute(value, context) {
    const path = absolutePath(value.path ?? ".", context);
    const { kind } = pathStat(path);
    if (kind !== "file" && kind !== "directory")
      return failed(`${path} does not exist, or is neither a file nor a directory.`);
    if (value.type !== undefined && globOfType(value.type) === undefined) {
      return failed(`There is no file type ${value.type}; use glob, or one of: ${FILE_TYPES.join(", ")}.`);
    }
    const query = {
      pattern: value.pattern,
      path,
      glob: value.glob,
      type: value.type,
      ignoreCase: value["-i"] ?? false,
      multiline: value.multiline ?? false,
    };
    const gaps = new SearchGaps();
    const outcome = await search(query, { env: context.env, signal: context.signal, gaps });
    if ("problem" in outcome) return failed(outcome.problem);
    const { kept: matches, note } = withoutDenied(
      outcome.matches,
      ({ file }) => String(file),
      kind === "file" ? undefined : context.isExcludedFromSearch,
    );
    const byFile = groupByFile(matches, context.cwd);
    const all = present(value, byFile);
    const { head_limit: limit = DEFAULT_LIMIT, offset = 0 } = value;
    const shown = all.slice(offset, offset + limit);
    const end = offset + shown.length;
    if (shown.some(({ hasBytes }) => hasBytes)) note.push(BYTES_NOTE);
    note.push(...gaps.notes((file) => shownPath(file, context.cwd), context.isExcludedFromSearch));
    const rest =
      end < all.length
        ? [
            `(${offset === 0 ? "the first" : `${offset + 1} to`} ${end} of ${all.length}; narrow the search, or continue with offset ${end})`,
          ]
        : [];
    const none = all.length === 0 ? "Nothing matches." : `There are no results after ${all.length}.`;
    return {
      content: [...(shown.length === 0 ? [none] : shown.map(({ text }) => text)), ...rest, ...note].join(
        "\n",
      ),
      data: {
        files: [...byFile.keys()],
        count: matches.length,
        matches: matches.slice(0, limit).map(({ file, line, text }) => ({
          file: shownPath(file, context.cwd),
          line,
          text: cutText(text, MAX_LINE),
        })),
      },
    };
  },
};

function groupByFile(matches: readonly GrepMatch[], cwd: string): Map<string, GrepMatch[]> {
  const groups = new Map<string, GrepMatch[]>();
  for (const match of matches) {
    const file = shownPath(match.file, cwd);
    const group = groups.get(file);
    if (group === undefined) groups.set(file, [match]);
    else group.push(match);
  }
  return groups;
}

/** One line of a result. */
interface Row {
  readonly text: string;
  /** Whether it is about a file whose name is not UTF-8. */
  readonly hasBytes: boolean;
}

function present(value: Input, byFile: ReadonlyMap<string, readonly GrepMatch[]>): Row[] {
  return [...byFile].flatMap(([file, matches]) => {
    const hasBytes = typeof matches[0]?.file !== "string";
    return textsOf(value, file, matches).map((text) => ({ text, hasBytes }));
  });
}

function textsOf(value: Input, file: string, matches: readonly GrepMatch[]): string[] {
  switch (value.output_mode ?? "files_with_matches") {
    case "files_with_matches":
      return [file];
    case "count":
      return [`${file}:${matches.length}`];
    case "content":
      return linesOf(file, matches, value);
  }
}

/** Formats lines as grep does: `:` marks a match, `-` a context line, `--` separates parts that are not adjacent. */
function linesOf(shown: string, matches: readonly GrepMatch[], value: Input): string[] {
  const before = value["-B"] ?? value["-C"] ?? 0;
  const after = value["-A"] ?? value["-C"] ?? 0;
  const numbered = value["-n"] ?? true;
  const texts = new Map<number, { text: string; sign: ":" | "-" }>();
  const around = before + after > 0 ? fileLines(matches[0]?.file) : [];
  let next = 0;
  for (const { line, span } of matches) {
    // Lines around earlier matches are already there.
    for (let at = Math.max(next, line - before); at < line + span + after; at += 1) {
      next = at + 1;
      const text = around[at - 1];
      if (text !== undefined) texts.set(at, { text, sign: "-" });
    }
  }
  for (const { line, text } of matches) {
    for (const [i, part] of text.split("\n").entries()) texts.set(line + i, { text: part, sign: ":" });
  }
  const printed: string[] = [];
  let last = 0;
  for (const [line, { text, sign }] of [...texts].sort(([a], [b]) => a - b)) {
    if (around.length > 0 && last > 0 && line > last + 1) printed.push("--");
    printed.push(`${shown}${sign}${numbered ? `${line}${sign}` : ""}${cutText(text, MAX_LINE)}`);
    last = line;
  }
  return printed;
}

function fileLines(path: string | Buffer | undefined): string[] {
  const file = path === undefined ? undefined : readTextFile(path);
  return file?.problem === undefined ? (file?.text.replace(/\n$/, "").split("\n") ?? []) : [];
}
