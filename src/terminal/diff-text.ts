import type { FileDiff, FileStatus } from "../git/diff.ts";
import type { AgentDiff } from "../operations/landing/read-diffs.ts";
import { displayWidth } from "../text/cell-width.ts";
import { textStart } from "../text/characters/cut-text.ts";
import { diffRows } from "../text/diff/diff-rows.ts";
import { filePatches } from "../text/diff/file-patches.ts";
import { type Style, styled, TONE } from "../text/style.ts";
import { revealHidden } from "../text/terminal-text.ts";
import { line, type Output } from "./output.ts";

/** Maximum columns of `+` and `-`, used for the file with the most changed lines. */
const BAR = 24;

const LETTERS: Readonly<Record<FileStatus, string>> = {
  added: "A",
  modified: "M",
  deleted: "D",
  renamed: "R",
  copied: "C",
  retyped: "T",
  conflicted: "U",
};

interface DiffTextOptions {
  readonly stat: boolean;
  readonly colors: boolean;
  /** Columns of a person's terminal, which gets line numbers and changed words; omitted: the patch as git prints it. */
  readonly columns?: number | undefined;
  /** True if the terminal cannot show UTF-8. */
  readonly ascii?: boolean;
}

/** Returns one agent's changes: a heading, a line for each file, and the patch. */
export function diffText(
  diff: AgentDiff & { readonly color?: string | undefined },
  out: Pick<Output, "styleText">,
  { stat, ...options }: DiffTextOptions,
): string {
  const heading = headingOf(diff, out);
  if (diff.files.length === 0) return heading;
  const parts = [[heading, ...fileLines(diff.files, out)].join("\n")];
  if (!stat)
    parts.push(
      options.columns === undefined ? patchText(diff.patch, options.colors) : changes(diff, options),
    );
  return parts.join("\n\n");
}

function headingOf(
  { agent, sharedWith, directory, base, files, color }: Parameters<typeof diffText>[0],
  { styleText }: Pick<Output, "styleText">,
): string {
  const name = styleText(agent, "bold", { member: color });
  const others = sharedWith.length === 0 ? "" : ` (shared with ${sharedWith.join(", ")})`;
  const since = textStart(base, 10);
  if (files.length === 0) return line`${name}${others} - no changes since ${since}, in ${directory}`;
  const added = sum(files.map((file) => file.added));
  const removed = sum(files.map((file) => file.removed));
  const count = `${files.length} ${files.length === 1 ? "file" : "files"}`;
  return line`${name}${others} - ${count}, ${styleText(`+${added}`, "good")} ${styleText(`-${removed}`, "bad")} since ${since}, in ${directory}`;
}

function fileLines(files: readonly FileDiff[], { styleText }: Pick<Output, "styleText">): readonly string[] {
  const most = files.reduce((max, { added, removed }) => Math.max(max, (added ?? 0) + (removed ?? 0)), 1);
  const scale = (lines: number): number =>
    lines === 0 ? 0 : most <= BAR ? lines : Math.max(1, Math.round((lines * BAR) / most));
  const names = files.map(({ path, from }) => oneLine(from === undefined ? path : `${from} → ${path}`));
  const width = Math.min(60, Math.max(...names.map(displayWidth)));
  const counts = files.map(({ added, removed }) =>
    added === null || removed === null ? "binary" : String(added + removed),
  );
  const countWidth = Math.max(...counts.map((text) => text.length));
  return files.map(({ status, added, removed }, i) => {
    const bar = [
      styleText("+".repeat(scale(added ?? 0)), "good"),
      styleText("-".repeat(scale(removed ?? 0)), "bad"),
    ];
    const [plus, minus] = bar.map((part) => part.styled);
    return `  ${LETTERS[status]} ${padded(names[i] ?? "", width)}  ${(counts[i] ?? "").padStart(countWidth)} ${plus}${minus}`.trimEnd();
  });
}

function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - displayWidth(text)));
}

function sum(counts: readonly (number | null)[]): number {
  return counts.reduce<number>((total, n) => total + (n ?? 0), 0);
}

/** Lines of git about a file that its name and figures already show. */
const KNOWN_HEADERS = /^(?:index |--- |\+\+\+ |new file mode 100644$|deleted file mode )/;

/** Returns the changes of each file below its name, as a person reads them. */
function changes(
  { files, patch }: Pick<AgentDiff, "files" | "patch">,
  { colors, columns = Number.POSITIVE_INFINITY, ascii = false }: Omit<DiffTextOptions, "stat">,
): string {
  return filePatches(patch.replace(/\n$/, "").split("\n"))
    .map(({ header, hunks }, i) => {
      const file = files[i];
      const name = file === undefined ? "" : `${LETTERS[file.status]} ${oneLine(file.path)}`;
      const title = colors ? styled(name, ["bold"]) : name;
      const rest = header.filter((row) => !KNOWN_HEADERS.test(row)).map(oneLine);
      return [title, ...rest, ...diffRows(hunks, { width: columns, plain: !colors, ascii })].join("\n");
    })
    .join("\n\n");
}

/** Returns a patch with colours. Control and invisible characters are shown as escapes, so no line can pretend to be another one. */
function patchText(patch: string, colors: boolean): string {
  let isHeader = true;
  const rows = patch.replace(/\n$/, "").split("\n");
  return rows
    .map((row) => {
      if (row.startsWith("diff --git ")) isHeader = true;
      else if (row.startsWith("@@")) isHeader = false;
      const text = oneLine(row);
      const style = colors ? styleOf(row, isHeader) : undefined;
      return style === undefined || text === "" ? text : styled(text, [style]);
    })
    .join("\n");
}

function styleOf(row: string, isHeader: boolean): Style {
  if (isHeader) return "bold";
  if (row.startsWith("+")) return TONE.good;
  if (row.startsWith("-")) return TONE.bad;
  return row.startsWith("@@") ? TONE.busy : undefined;
}

function oneLine(text: string): string {
  return revealHidden(text.replace(/\r$/, "^M")).replaceAll("\n", "\\n");
}
