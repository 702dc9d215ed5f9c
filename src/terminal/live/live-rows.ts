import { cutToWidth } from "../../text/cell-width.ts";
import { textStart } from "../../text/characters/cut-text.ts";
import { cutStyled } from "../../text/cut-styled.ts";
import { type Styler, TONE } from "../../text/style.ts";
import { gridText } from "../../text/terminal-text.ts";
import { inputRows } from "../input/input-rows.ts";
import type { EditedLine } from "../input/typed.ts";

type Rows = () => readonly string[];

/** The content of the last rows of a pane, from the top. */
export interface LiveParts {
  /** Text that is not complete yet. */
  readonly progress: Rows | undefined;
  /** An empty row between the text above and the rest. */
  readonly isApart: boolean;
  readonly details: Rows | undefined;
  /** Never shown in part. */
  readonly question: Rows | undefined;
  readonly activity: string | undefined;
  /** Entered lines that wait for the running turn. */
  readonly held: readonly string[];
  /** Undefined while it takes no keys. */
  readonly input: EditedLine | undefined;
  /** Before the input line. */
  readonly prompt: string;
}

/** The rows, and the cursor's place among them. */
export interface LiveRows {
  readonly rows: readonly string[];
  readonly row: number;
  readonly column: number;
  /** Whether the question has enough rows. */
  readonly fits: boolean;
}

interface Terminal {
  readonly width: number;
  readonly height: number;
  readonly styleText: Styler;
}

/** Shown after a waiting line. */
const MARK = "  (queued)";
/** Maximum number of waiting lines to show, the newest ones. */
const MAX_HELD = 3;
/** Begins the input line. */
export const PROMPT = "›";
/** Maximum rows of the input line, and of its list of suggestions. */
const MAX_INPUT = 8;
/** Minimum rows of a terminal that shows an empty row between the output and the region. */
const MIN_APART = 12;
const NO_INPUT = { rows: [], row: 0, column: 0 } as const;

/** Lays out the last rows of a pane. If not all fit, text in progress loses its oldest rows, then the details do. */
export function liveRows(parts: LiveParts, { width, height, styleText }: Terminal): LiveRows {
  const maxRows = Math.max(1, Math.min(MAX_INPUT, Math.floor(height / 3)));
  const { prompt, activity } = parts;
  const input =
    parts.input === undefined ? NO_INPUT : inputRows(parts.input, { width, maxRows, styleText, prompt });
  const waiting = parts.held
    .slice(-MAX_HELD)
    .map((line) => styleText(TONE.quiet, `${PROMPT} ${waitingLine(line, width - 3 - MARK.length)}${MARK}`));
  const asked = parts.question?.() ?? [];
  const fixed = [...asked, ...(activity === undefined ? [] : [cutStyled(activity, width - 1)]), ...waiting];
  const taken = fixed.length + input.rows.length;
  // Keeps one row of the output visible.
  let room = Math.max(0, height - 1 - taken);
  const newest = (rows: Rows | undefined): readonly string[] => {
    const shown = rows === undefined || room === 0 ? [] : rows().slice(-room);
    room -= shown.length;
    return shown;
  };
  const gap = parts.isApart && height >= MIN_APART && room > 1 ? [""] : [];
  room -= gap.length;
  const details = newest(parts.details);
  const lower = [...details, ...fixed];
  const progress = newest(parts.progress);
  const isEmpty = lower.length + input.rows.length === 0;
  const above = [...progress, ...(isEmpty ? [] : gap), ...lower].slice(
    -Math.max(1, height - input.rows.length),
  );
  const rows = [...above, ...input.rows];
  // Reserves a row for the keys of the question, which appear a moment later.
  const fits = asked.length === 0 || taken + (activity === undefined ? 1 : 0) <= height;
  if (parts.input === undefined) return { rows, row: Math.max(0, rows.length - 1), column: 0, fits };
  return { rows, row: above.length + input.row, column: input.column, fits };
}

/** Returns a waiting line as one row. */
function waitingLine(line: string, width: number): string {
  // A pasted line may be very long: at most two code units for each cell can be shown.
  return cutToWidth(gridText(textStart(line, 2 * Math.max(1, width)).replaceAll("\n", "⏎")), width);
}
