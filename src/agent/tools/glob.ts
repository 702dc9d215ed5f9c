import { isAbsolute, join, relative } from "node:path";
import picomatch from "picomatch";
import * as z from "zod/mini";
import { pathStat } from "../../os/files/user-files.ts";
import { isTimeLimitError, timeLimit } from "../../os/time-limit.ts";
import { shellBytes } from "../../text/shell-quote.ts";
import type { Tool, ToolContext } from "../tool.ts";
import { absolutePath, failed, hasNoNul, withoutDenied } from "./file-access.ts";
import { BYTES_NOTE, type ListedFile, listFiles, splitGlob } from "./list-files.ts";
import { SearchGaps } from "./search-gaps.ts";

/** Maximum paths in one result, the newest files first. */
const MAX_SHOWN = 500;
/** Time limit in milliseconds to match all names; stops catastrophic backtracking. */
const MATCH_TIMEOUT_MS = 5000;

const input = z.object({
  pattern: z
    .string()
    .check(
      z.minLength(1),
      z.refine(hasNoNul, "contains a NUL character"),
      z.describe("A glob, like **/*.ts or src/{a,b}/*.json"),
    ),
  path: z
    .optional(z.string().check(z.refine(hasNoNul, "contains a NUL character")))
    .check(z.describe("The directory to search (default: the working directory)")),
});
type Input = z.infer<typeof input>;

export const globTool: Tool<Input> = {
  name: "Glob",
  description:
    "Finds files by name: `*` matches within a directory, `**` across directories. The newest files come first. In a git repository, ignored files are left out.",
  input,
  parallel: true,
  access: (value, context) => ({ kind: "read", paths: [targetOf(value, context).directory] }),
  summary: ({ pattern, path }) => (path === undefined ? pattern : `${pattern} in ${path}`),
  summaryPath: ({ path }) => path,
  async execute(value, context) {
    const { directory, glob } = targetOf(value, context);
    if (pathStat(directory).kind !== "directory") return failed(`${directory} is not a directory.`);
    const matches = picomatch(glob, { dot: true });
    const gaps = new SearchGaps();
    const listed = await listFiles(directory, { env: context.env, signal: context.signal, gaps });
    let matching: readonly ListedFile[];
    try {
      matching = timeLimit(MATCH_TIMEOUT_MS)(() => listed.filter(({ name }) => matches(name)));
    } catch (error) {
      if (!isTimeLimitError(error)) throw error;
      return failed("The pattern takes too long to match; simplify it.");
    }
    const { kept, note } = withoutDenied(matching, ({ path }) => String(path), context.isExcludedFromSearch);
    const found = kept
      .flatMap(({ name, path }) => {
        const stat = gaps.unlessUnreadable(path, () => pathStat(path));
        return stat?.kind === "file" ? [{ name, path, stat }] : [];
      })
      .sort((a, b) => b.stat.mtimeMs - a.stat.mtimeMs || (a.name < b.name ? -1 : 1));
    const shown = found.slice(0, MAX_SHOWN);
    const files = shown.map(({ path }) => shownPath(path, context.cwd));
    if (shown.some(({ path }) => typeof path !== "string")) note.push(BYTES_NOTE);
    note.push(...gaps.notes((path) => shownPath(path, context.cwd), context.isExcludedFromSearch));
    const rest = found.length > files.length ? [`(the newest ${files.length} of ${found.length})`] : [];
    return {
      content: [...(found.length === 0 ? ["No file matches."] : files), ...rest, ...note].join("\n"),
      data: { files, total: found.length },
    };
  },
};

function targetOf(
  { pattern, path = "." }: Input,
  context: Pick<ToolContext, "cwd" | "env">,
): { directory: string; glob: string } {
  const { directory, glob } = splitGlob(pattern, absolutePath(path, context));
  return { directory, glob: glob.replace(/^(\.\/)+/, "") };
}

/** Returns a path relative to the working directory if it is inside, else the absolute path. Bytes are quoted as a word of a shell. */
export function shownPath(path: string | Buffer, cwd: string): string {
  if (typeof path !== "string") {
    const inside = Buffer.from(join(cwd, "/"));
    const isInside = path.subarray(0, inside.length).equals(inside);
    return shellBytes(isInside ? path.subarray(inside.length) : path);
  }
  const inner = relative(cwd, path);
  return inner === "" || inner.startsWith("..") || isAbsolute(inner) ? path : inner;
}
