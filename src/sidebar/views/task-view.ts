import { markdownRows } from "../../text/markdown/rows.ts";
import { styler } from "../../text/style.ts";
import { revealHidden } from "../../text/terminal-text.ts";
import type { TaskDetails } from "../documents.ts";
import { type ReaderRow, row } from "./reader.ts";
import { styledRows, textRows } from "./whole-view.ts";

/** Returns everything that is known about a task, as rows. */
export function taskDocument(
  { subject, facts, description }: TaskDetails,
  width: number,
): readonly ReaderRow[] {
  const text = revealHidden(description);
  const parts: readonly (readonly ReaderRow[])[] = [
    textRows(revealHidden(subject), width, { bold: true }),
    textRows(facts.join("\n"), width),
    text.trim() === "" ? [] : styledRows(markdownRows(text, { width, style: styler(false) })),
  ];
  return parts.filter((part) => part.length > 0).flatMap((part, i) => (i === 0 ? part : [row([]), ...part]));
}
