import { defaultLine, hiddenInput, numbered } from "../../operations/approvals/request-texts.ts";
import { diffRows } from "../../text/diff/diff-rows.ts";
import { markdownRows } from "../../text/markdown/rows.ts";
import { styler, TONE } from "../../text/style.ts";
import { gridRow, gridText, revealHidden, stripControls } from "../../text/terminal-text.ts";
import { brokenRows } from "../../text/word-wrap.ts";
import type { RequestDetails } from "../documents.ts";
import { type Span, type SpanStyle, span } from "../spans.ts";
import { type ReaderRow, row, textOf } from "./reader.ts";
import { spansOfStyled } from "./styled-spans.ts";

/** Returns everything that a request says, as rows. */
export function requestDocument(request: RequestDetails, width: number): readonly ReaderRow[] {
  const { summary, reason, change = [], choices = [], always = [], question, planFilePath } = request;
  const input = hiddenInput(request);
  const quiet = { fg: TONE.quiet };
  const parts: readonly (readonly ReaderRow[])[] = [
    textRows(revealHidden(planFilePath ?? summary), width, { bold: true }),
    reason === undefined ? [] : textRows(reason, width, quiet),
    styledRows(diffRows(change, { width, plain: false })),
    input === undefined ? [] : textRows(input, width),
    question === undefined || question === summary ? [] : textRows(revealHidden(question), width),
    planRows(request, width),
    [...choices.map(numbered), ...defaultLine(request)].flatMap((text) =>
      textRows(revealHidden(text), width),
    ),
    always.length === 0 ? [] : textRows(`always: ${revealHidden(always.join(", "))}`, width, quiet),
    answerRows(request, width),
  ];
  return parts.filter((part) => part.length > 0).flatMap((part, i) => (i === 0 ? part : [row([]), ...part]));
}

/** Renders the Markdown of a plan. Markdown can hide a part of its text: such a plan is shown as plain text. */
function planRows({ planContent }: RequestDetails, width: number): readonly ReaderRow[] {
  if (planContent === undefined) return [];
  const text = revealHidden(planContent);
  const rows = styledRows(markdownRows(text, { width, style: styler(false) }));
  const isAll = wordsOf(rows.map(textOf).join(" ")) === wordsOf(text.replace(LANGUAGE, ""));
  return isAll ? rows : textRows(text, width);
}

/** The language after the fence of a code block. */
const LANGUAGE = /(?<=^\s*(?:`{3,}|~{3,}))[\w+#-]+[ \t]*$/gm;

/** The letters and digits of a text. */
function wordsOf(text: string): string {
  return text.replace(/[^\p{L}\p{N}]/gu, "");
}

function answerRows({ answer }: RequestDetails, width: number): readonly ReaderRow[] {
  if (answer === undefined) return [];
  const verdict = `already ${answer.approve ? "approved" : "rejected"} by ${answer.by}`;
  return textRows(answer.note === undefined ? verdict : `${verdict}: ${answer.note}`, width, {
    fg: TONE.attention,
  });
}

export function styledRows(rows: readonly string[]): readonly ReaderRow[] {
  return rows.map((text) => row(spansOfStyled(text)));
}

/** Wraps a text of several lines; spaces at the start of a line stay. */
export function textRows(text: string, width: number, style: SpanStyle = {}): readonly ReaderRow[] {
  return stripControls(text)
    .replaceAll("\t", "    ")
    .trimEnd()
    .split("\n")
    .flatMap((line) => brokenRows(gridRow(line), width))
    .map((part) => row([span(part, style)]));
}

/** The title of the view: the kind of request, and its member. */
export function requestTitle({ kind, from }: RequestDetails): Span[] {
  return [span(gridText(from), { bold: true }), span(` · ${kind}`, { fg: TONE.attention })];
}
