import type { ApprovalDetails } from "../../operations/approvals/approvals.ts";
import { defaultLine, hiddenInput, numbered } from "../../operations/approvals/request-texts.ts";
import { diffRows } from "../../text/diff/diff-rows.ts";
import { styler, TONE } from "../../text/style.ts";
import { asciiText, revealHidden } from "../../text/terminal-text.ts";
import { brokenRows } from "../../text/word-wrap.ts";

export interface RowOptions {
  /** Columns of the terminal. */
  readonly width: number;
  /** No colours. */
  readonly plain: boolean;
  /** Only ASCII; other characters are escaped. */
  readonly ascii: boolean;
}

/** Returns a request in full, as rows of a terminal. Hidden characters are escaped, and nothing is cut. */
export function requestRows(approval: ApprovalDetails, { width, plain, ascii }: RowOptions): string[] {
  const { kind, summary, question, planFilePath, planContent, reason, choices = [], always = [] } = approval;
  const styleText = styler(plain);
  const safe = (text: string): string => (ascii ? asciiText(text) : text);
  const rowsIn = (text: string | undefined): string[] =>
    text === undefined
      ? []
      : safe(revealHidden(text.replaceAll("\t", "    ")))
          .split("\n")
          .flatMap((row) => brokenRows(row, width));
  const change = diffRows((approval.change ?? []).map(safe), { width, plain, ascii });
  const parts = [
    rowsIn(question ?? summary).map((row) => styleText("bold", row)),
    kind === "plan" ? rowsIn(planFilePath) : [],
    rowsIn(reason).map((row) => styleText(TONE.quiet, row)),
    change,
    rowsIn(hiddenInput(approval)),
    rowsIn(planContent),
    [...choices.map(numbered), ...defaultLine(approval)].flatMap(rowsIn),
    always.length === 0 ? [] : rowsIn(`a allows from now on: ${always.join(", ")}`),
  ];
  return parts.filter((rows) => rows.length > 0).flatMap((rows, i) => (i === 0 ? rows : ["", ...rows]));
}
