import type { FileDiff, FileStatus } from "../../git/diff.ts";
import { displayWidth } from "../../text/cell-width.ts";
import { textStart } from "../../text/characters/cut-text.ts";
import type { DiffLine } from "../../text/diff/diff-line.ts";
import { diffLineRows } from "../../text/diff/diff-rows.ts";
import { filePatches } from "../../text/diff/file-patches.ts";
import { shortPath } from "../../text/short-path.ts";
import { TONE } from "../../text/style.ts";
import { gridRow } from "../../text/terminal-text.ts";
import type { DiffPlace, LineComment, MemberDiff } from "../documents.ts";
import { wrap } from "../labels.ts";
import { isSamePlace } from "../prompts.ts";
import { ends, type Span, span } from "../spans.ts";
import { type ReaderRow, row } from "./reader.ts";
import { spansOfStyled } from "./styled-spans.ts";

const LETTERS: Readonly<Record<FileStatus, string>> = {
  added: "A",
  modified: "M",
  deleted: "D",
  renamed: "R",
  copied: "C",
  retyped: "T",
  conflicted: "U",
};

/** Maximum lines of a patch that are shown; `teams diff` shows all. */
const MAX_LINES = 20_000;

/** Returns the rows of a member's diff: each file with its lines, and below a line the comments on it. */
export function diffDocument(
  diff: MemberDiff,
  comments: readonly LineComment[],
  width: number,
): readonly ReaderRow[] {
  const since = `since ${textStart(diff.base, 10)}`;
  if (diff.files.length === 0) return [row([span(`no changes ${since}`, { fg: TONE.quiet })])];
  const shared =
    diff.sharedWith.length === 0 ? [] : wrap(`also work of ${diff.sharedWith.join(", ")}`, width, 2);
  const all = diff.patch.replace(/\n$/, "").split("\n");
  const patches = filePatches(all.slice(0, MAX_LINES));
  const files = diff.files.flatMap((file, i) => fileRows(file, patches[i]?.hunks ?? [], comments, width));
  const more = all.length - MAX_LINES;
  return [
    ...shared.map((text) => row([span(text, { fg: TONE.quiet })])),
    ...files,
    ...(more > 0 ? [row([span(`… ${more} more lines; see teams diff`, { fg: TONE.quiet })])] : []),
  ];
}

/** Returns how many lines the files of a diff gain and lose. */
export function diffFigures({ files }: MemberDiff): { readonly added: number; readonly removed: number } {
  const sum = (of: (file: FileDiff) => number | null): number =>
    files.reduce((total, file) => total + (of(file) ?? 0), 0);
  return { added: sum(({ added }) => added), removed: sum(({ removed }) => removed) };
}

function fileRows(
  file: FileDiff,
  lines: readonly string[],
  comments: readonly LineComment[],
  width: number,
): ReaderRow[] {
  const body = diffLineRows(lines, { width, plain: false }).flatMap(({ line, rows }): ReaderRow[] => {
    const place = placeOf(file, line);
    const shown = rows.map((text) => ({
      ...row(spansOfStyled(text)),
      ...(place === undefined ? {} : { place }),
    }));
    const own = place === undefined ? [] : comments.filter((one) => isSamePlace(one, place));
    return [...shown, ...own.flatMap((comment) => commentRows(comment, width))];
  });
  const nothing = body.length > 0 ? [] : [row([span(nothingShown(file), { fg: TONE.quiet })])];
  return [{ ...row(fileHeading(file, width)), isFile: true }, ...body, ...nothing, row([])];
}

function nothingShown({ added, removed, status }: FileDiff): string {
  if (added === null) return "a binary file";
  if (added > 0 || (removed ?? 0) > 0) return "not shown here; see teams diff";
  return status === "renamed" || status === "copied" ? "the same content" : "no changed lines";
}

function fileHeading({ path, from, added, removed, status }: FileDiff, width: number): Span[] {
  const counts = [
    ...(added ? [span(`+${added}`, { fg: TONE.good })] : []),
    ...(removed ? [span(added ? ` -${removed}` : `-${removed}`, { fg: TONE.bad })] : []),
  ];
  const taken = counts.reduce((sum, { text }) => sum + displayWidth(text), 3);
  const room = Math.max(8, width - taken);
  const name = from === undefined ? path : `${from} → ${path}`;
  const shown =
    displayWidth(name) <= room ? gridRow(shortPath(name, undefined, room)) : shortPath(path, undefined, room);
  return ends(
    [span(`${LETTERS[status]} `, { fg: TONE.busy }), span(shown, { bold: true, underline: true })],
    counts,
    width,
  );
}

/** Returns the place of a line; undefined for a gap, a note and the mark of a missing line end. */
function placeOf({ path, from }: FileDiff, { kind, number, text }: DiffLine): DiffPlace | undefined {
  if (number === undefined || (kind !== " " && kind !== "+" && kind !== "-")) return undefined;
  if (kind !== "-") return { path, line: number, side: "after", quote: text };
  return { path: from ?? path, line: number, side: "before", quote: text };
}

function commentRows({ text }: LineComment, width: number): ReaderRow[] {
  const tone = { fg: TONE.attention };
  return wrap(text, Math.max(8, width - 4), 20).map((part, i) =>
    row([span(i === 0 ? "  ✎ " : "    ", tone), span(part, { ...tone, bold: true })]),
  );
}
