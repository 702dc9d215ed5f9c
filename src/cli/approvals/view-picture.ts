import type { Picture } from "../../terminal/full-screen.ts";
import { inputRows } from "../../terminal/input/input-rows.ts";
import { asciiRow } from "../../text/ascii.ts";
import { displayWidth } from "../../text/cell-width.ts";
import { cutStyled } from "../../text/cut-styled.ts";
import { styler, TONE } from "../../text/style.ts";
import { gridText } from "../../text/terminal-text.ts";
import { brokenRows } from "../../text/word-wrap.ts";
import type { ApprovalsView } from "./approvals-view.ts";
import { type RowOptions, requestRows } from "./request-rows.ts";
import { keyWords, type ShownRequest } from "./view-keys.ts";

interface PictureOptions extends RowOptions {
  readonly height: number;
  readonly team: string;
}

/** Maximum rows of the note's input. */
const NOTE_ROWS = 3;
/** Maximum rows of a finished note, and of a notice. */
const NOTICE_ROWS = 2;
const GAP = "  ";

/** Creates the function that draws the view: a title, the request, and the keys in the last rows. */
export function viewPainter(): (view: ApprovalsView, options: PictureOptions) => Picture {
  let laid: { readonly shown: ShownRequest; readonly form: string; readonly rows: string[] } | undefined;
  let version = 0;
  return (view, options) => {
    const { shown } = view;
    const form = `${options.width} ${options.plain} ${options.ascii}`;
    if (shown === undefined) laid = undefined;
    else if (laid?.shown.details !== shown.details || laid.form !== form) {
      const rows = requestRows(shown.details, options);
      if (laid?.rows.join("\n") !== rows.join("\n") || laid.shown.key !== shown.key) version += 1;
      laid = { shown, form, rows };
    }
    return picture(view, laid?.rows ?? [], String(version), options);
  };
}

function picture(
  view: ApprovalsView,
  body: readonly string[],
  layout: string,
  options: PictureOptions,
): Picture {
  const { height, plain, ascii } = options;
  const note = noteRows(view, options);
  // The keys take the same number of rows before and after all of the request was seen: the request never moves.
  const isTall = (keys: readonly string[]): boolean =>
    body.length > height - 1 - note.rows.length - keys.length;
  const partKeys = keyRows(view, { ...options, unseen: body.length, isScrollable: true });
  const allKeys = keyRows(view, { ...options, unseen: 0, isScrollable: isTall(partKeys) });
  const below =
    note.rows.length + (isTall(partKeys) ? Math.max(partKeys.length, allKeys.length) : allKeys.length);
  const room = Math.max(1, height - 1 - below);
  view.lay(layout, body.length, room);
  const keys = keyRows(view, { ...options, unseen: view.unseen, isScrollable: view.isScrollable });
  const visible = body.slice(view.top, view.top + room);
  if (view.shown === undefined) visible.push(styler(plain)(TONE.quiet, "Nothing is waiting for you."));
  const bottom = [...note.rows, ...keys];
  while (visible.length + bottom.length < height - 1) visible.push("");
  const rows = [cutStyled(titleRow(view, options), options.width), ...visible, ...bottom].slice(0, height);
  // The request itself has only ASCII already.
  const shownRows = ascii ? rows.map(asciiRow) : rows;
  const row = 1 + visible.length + (note.cursor?.row ?? 0);
  if (note.cursor === undefined || row >= height) return { rows: shownRows };
  return { rows: shownRows, cursor: { row, column: note.cursor.column } };
}

function titleRow({ shown, open }: ApprovalsView, { team, plain }: PictureOptions): string {
  const styleText = styler(plain);
  if (shown === undefined) return styleText(TONE.quiet, gridText(team));
  const { kind, from } = shown.details;
  const place = open.findIndex(({ key }) => key === shown.key);
  const count = place === -1 ? "" : `${place + 1}/${open.length}  `;
  const title = `${kind} of ${gridText(from)}`;
  return `${count}${styleText(TONE.attention, title)}  ${styleText(TONE.quiet, gridText(team))}`;
}

/** Returns the input of an open note, else the finished note and the result of the last key. */
function noteRows(
  view: ApprovalsView,
  { width, plain }: PictureOptions,
): { readonly rows: readonly string[]; readonly cursor?: { readonly row: number; readonly column: number } } {
  const styleText = styler(plain);
  const word = view.shown?.details.kind === "question" ? "answer" : "note";
  const rowsOf = (texts: readonly string[]): readonly string[] =>
    texts
      .flatMap((text) => firstRows(brokenRows(text, width), width))
      .map((row) => styleText(TONE.attention, row));
  if (view.note.isOpen) {
    const { rows, row, column } = inputRows(view.note.edited, {
      width,
      maxRows: NOTE_ROWS,
      styleText,
      prompt: `${word} ›`,
    });
    return {
      rows: [...rows, ...rowsOf(view.notice === undefined ? [] : [view.notice])],
      cursor: { row, column },
    };
  }
  const texts = [
    ...(view.note.text === "" ? [] : [`${word}: ${gridText(view.note.text)}`]),
    ...[closedText(view), view.notice].flatMap((text) => (text === undefined ? [] : [gridText(text)])),
  ];
  return { rows: rowsOf(texts) };
}

/** Returns the first rows of a text; the last of them says that there are more. */
function firstRows(rows: readonly string[], width: number): readonly string[] {
  if (rows.length <= NOTICE_ROWS) return rows;
  return [...rows.slice(0, NOTICE_ROWS - 1), cutStyled(`${rows[NOTICE_ROWS - 1]} …`, width)];
}

function closedText({ shown }: ApprovalsView): string | undefined {
  if (shown === undefined || !shown.isClosed) return undefined;
  const { answer } = shown.details;
  if (answer === undefined) return "Already answered, or withdrawn.";
  return `Already ${answer.approve ? "approved" : "rejected"} by ${answer.by}.`;
}

/** Returns the keys that apply, in as many rows as they need. */
function keyRows(
  { shown, open, note }: ApprovalsView,
  {
    width,
    plain,
    unseen,
    isScrollable,
  }: PictureOptions & { readonly unseen: number; readonly isScrollable: boolean },
): readonly string[] {
  const styleText = styler(plain);
  const words: readonly (readonly [string, string])[] = note.isOpen
    ? [
        ["Enter", shown?.details.kind === "question" ? "send" : "keep"],
        ["Esc", "cancel"],
      ]
    : keyWords(shown, { unseen, isScrollable, count: open.length });
  const rows: string[] = [];
  let used = 0;
  for (const [key, word] of words) {
    const cells = displayWidth(`${key} ${word}`);
    const text = `${styleText("bold", key)} ${word}`;
    if (rows.length > 0 && used + GAP.length + cells <= width) {
      rows[rows.length - 1] += `${GAP}${text}`;
      used += GAP.length + cells;
    } else {
      rows.push(text);
      used = cells;
    }
  }
  return rows;
}
