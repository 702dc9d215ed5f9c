import { displayWidth } from "./cell-width.ts";

/** ASCII forms of the signs that we and most models use; each takes one cell, as its sign does. */
const SIGNS: Readonly<Record<string, string>> = {
  ...{ "●": "*", "○": "o", "◐": "%", "◑": "%", "◌": ".", "▲": "!", "■": "#", "◂": "<", "▌": "|", "›": ">" },
  ...{ "✓": "+", "✗": "x", "✻": "*", "✎": "/", "↻": "@", "⎿": "`", "…": ">", "·": "-", "•": "*", "◦": "-" },
  ...{ "→": ">", "←": "<", "↑": "^", "↓": "v", "↳": ">", "↵": "<", "⏎": "<", "⋮": ":", "×": "x", "☐": "_" },
  ...{ "│": "|", "┃": "|", "▏": "|", "‖": "|", "─": "-", "━": "-", "┼": "+", "└": "`", "├": "|", "—": "-" },
  ...{ "–": "-", "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "\u00a0": " " },
};

/**
 * Returns rows for a terminal without UTF-8: signs get their ASCII form, and any other character a question mark for each of its
 * cells, so that no column moves. Escape sequences stay. Text that a person must read exactly goes through `asciiText` first.
 */
export function asciiRow(rows: string): string {
  return rows.replace(/[^\x00-\x7f]/gu, (char) => SIGNS[char] ?? "?".repeat(displayWidth(char)));
}
