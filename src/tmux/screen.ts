import type { PaneId } from "./ids.ts";
import { isNoServer, type TmuxServer } from "./server.ts";
import { ifElse, MISS } from "./command.ts";

/** What a pane shows at one moment, and what decides what keys would do there. */
export interface Screen {
  /** Rows without blanks at their ends: those of the history that were asked for, then all that are visible. */
  readonly rows: readonly string[];
  readonly width: number;
  readonly height: number;
  /** Rows that have scrolled out of the visible part, and that tmux still keeps. */
  readonly history: number;
  /** How many it keeps. At so many it drops the oldest tenth at once. */
  readonly historyLimit: number;
  readonly cursor: { readonly x: number; readonly y: number };
  readonly alternate: boolean;
  /** The mode that a person has it in (`copy-mode`, `tree-mode`); empty for none. What the program shows is seen all the same. */
  readonly mode: string;
  readonly dead: boolean;
  readonly inputOff: boolean;
  /** Whether the program has asked for brackets around a paste; a tmux older than 3.6 does not say. */
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
 * Looks at a pane in one call that changes nothing in it, whatever mode it is in.
 * @param condition names the pane itself, as for `onlyIf`
 * @param above rows of its history, at most
 * @returns undefined when the condition does not hold, or the server is gone
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
    rows,
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
