import { withoutPadding } from "./capture.ts";
import { ifElse, MISS } from "./command.ts";
import type { PaneId } from "./ids.ts";
import { isNoServer, type TmuxServer } from "./server.ts";

/** The screen of a pane at one moment, with the facts that decide how keys would work there. */
export interface Screen {
  /** Rows without trailing blanks: the requested rows of the history, then all visible rows. */
  readonly rows: readonly string[];
  readonly width: number;
  readonly height: number;
  /** Number of rows above the visible part that tmux still keeps. */
  readonly history: number;
  /** Maximum of `history`; at this number, tmux drops the oldest tenth at once. */
  readonly historyLimit: number;
  readonly cursor: { readonly x: number; readonly y: number };
  readonly alternate: boolean;
  /** The mode that the user has put the pane in (`copy-mode`, `tree-mode`), or "". In any mode, `rows` are the program's. */
  readonly mode: string;
  readonly dead: boolean;
  readonly inputOff: boolean;
  /** Whether the program has enabled bracketed paste; unknown before tmux 3.6. */
  readonly brackets: "on" | "off" | "unknown";
}

const FIELDS = [
  "pane_width",
  "pane_height",
  "history_size",
  "cursor_x",
  "cursor_y",
  "alternate_on",
  "pane_dead",
  "pane_input_off",
  "history_limit",
] as const;

/**
 * Reads the screen of a pane in one call that does not change the pane, in any mode.
 * @param condition identifies the pane, as for `onlyIf`
 * @param above maximum number of history rows
 * @returns undefined if the condition does not hold or the server is gone
 * @throws TeamError TMUX_ERROR
 */
export async function readScreen(
  server: TmuxServer,
  pane: PaneId,
  condition: string,
  above = 0,
): Promise<Screen | undefined> {
  const format = [...FIELDS, "bracket_paste_flag", "pane_mode"].map((name) => `#{${name}}`).join("\t");
  const command = ifElse(
    pane,
    condition,
    [
      ["display-message", "-p", "-t", pane, format],
      ["capture-pane", "-p", "-S", `-${above}`, "-t", pane],
    ],
    [["display-message", "-p", MISS]],
  );
  try {
    return parseScreen(await server.call(command));
  } catch (error) {
    if (isNoServer(error)) return undefined;
    throw error;
  }
}

function parseScreen(text: string): Screen | undefined {
  const [head = "", ...rows] = text.replace(/\n$/, "").split("\n");
  const fields = head.split("\t");
  if (fields.length < FIELDS.length + 2) return undefined;
  const [width = 0, height = 0, history = 0, x = 0, y = 0, ...others] = fields.map(Number);
  const [alternate, dead, inputOff, historyLimit = 0] = others;
  const flag = fields[FIELDS.length];
  return {
    rows: rows.map(withoutPadding),
    width,
    height,
    history,
    historyLimit,
    cursor: { x, y },
    alternate: alternate === 1,
    mode: fields[FIELDS.length + 1] ?? "",
    dead: dead === 1,
    inputOff: inputOff === 1,
    brackets: flag === "" ? "unknown" : flag === "0" ? "off" : "on",
  };
}
