import type { ApprovalDetails } from "../../operations/approvals/approvals.ts";
import { diffRows } from "../../text/diff/diff-rows.ts";
import { localTime } from "../../text/local-time.ts";
import { styler, TONE } from "../../text/style.ts";
import { asciiText, printableJson, revealHidden } from "../../text/terminal-text.ts";
import { brokenRows } from "../../text/word-wrap.ts";

export interface RowOptions {
  /** Columns of the terminal. */
  readonly width: number;
  /** No colours. */
  readonly plain: boolean;
  /** Only ASCII; other characters are escaped. */
  readonly ascii: boolean;
}

/** Returns the input of a call that its summary and its change do not show whole. */
export function hiddenInput({ change = [], isCut, input }: ApprovalDetails): string | undefined {
  if ((change.length > 0 && isCut !== true) || input === undefined) return undefined;
  // Every character of the input is visible, so nothing in it can hide from the person who allows it.
  return revealHidden(printableJson(input, 2));
}

/** Returns a choice with the key or number that selects it. */
export function numbered(choice: string, at: number): string {
  return `${at + 1}  ${choice}`;
}

/** Says what the answer to a question is without a choice, and from when. */
export function defaultLine({
  default: byDefault,
  deadline,
}: Pick<ApprovalDetails, "default" | "deadline">): readonly string[] {
  if (byDefault === undefined) return [];
  const at = deadline === undefined ? "" : ` (the answer at ${localTime(deadline, "seconds")})`;
  return [`default: ${revealHidden(byDefault)}${at}`];
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
