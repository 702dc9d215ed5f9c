import { displayWidth } from "../../text/cell-width.ts";
import { diffLineRows, diffRows } from "../../text/diff/diff-rows.ts";
import { isShortened } from "../../text/diff/left-out.ts";
import { joinedLines } from "../../text/line-ends.ts";
import { operand } from "../../text/shell-quote.ts";
import { shortRule, shortSummary } from "../../text/short-call.ts";
import { TONE } from "../../text/style.ts";
import { asciiText, gridText, revealHidden } from "../../text/terminal-text.ts";
import { brokenRows } from "../../text/word-wrap.ts";
import type { PermissionPrompt } from "../../worker/view.ts";
import { firstRows, type PaneWriter, rowsOf } from "./pane-writer.ts";

/** How a permission request is shown. */
export interface ShownPermission {
  /** Its rows without the keys, for the current width. */
  rows(): readonly string[];
  /** True if nothing is left out: it fits into the terminal, or the user asked for all of it. */
  readonly isAll: boolean;
  /** The keys that answer it. */
  readonly keys: readonly string[];
  /** These keys with their meanings, for a row of the pane that appears once they work. */
  readonly keysRow: string;
}

/** Rows below a request: the command, which may take two, its keys, and the input line. */
const ANSWER_ROWS = 4;
/** The same in a live pane, which shows no command. */
const LIVE_ANSWER_ROWS = 2;
type Key = readonly [key: string, word: string];
/** Minimum rows that are shown of the call, and of the change. */
const MIN_ROWS = 2;
const YES: Key = ["y", "yes"];
const NO: Key = ["n", "no"];
const ALWAYS: Key = ["a", "always"];
const EXPLAIN: Key = ["e", "explain"];
/** Separates two keys. */
const KEY_GAP = "   ";
/** Separates two keys in the last row of a live pane. */
const LIVE_KEY_GAP = " · ";
/** For a shortened request: `y` allows it only once it was shown whole. */
const SEE_ALL: Key = ["y", "show all of it"];

const TITLES: Readonly<Record<string, string>> = {
  Bash: "Allow this command?",
  Edit: "Allow this edit?",
  MultiEdit: "Allow this edit?",
  NotebookEdit: "Allow this edit?",
  Write: "Allow this write?",
};

/**
 * Shows a permission request: the call, its change, the reason, and how to answer. The keys come last, where a person looks. A
 * live pane shows the rows and then the keys in its last rows, and without a request id: nothing is written here.
 */
export function showPermission(
  pane: PaneWriter,
  asked: PermissionPrompt,
  readOnly: boolean,
): ShownPermission {
  const ask = pane.ascii ? asciiPrompt(asked) : asked;
  const always = alwaysKey(pane, ask);
  const { isAll } = shownPart(pane, ask, always === ALWAYS);
  const target = operand(gridText(ask.id));
  const commands = `teams approve ${target}`;
  const rows = forSize(pane, () => {
    // A request that was shown whole is never shortened later: its keys stay.
    const part = shownPart(pane, { ...ask, ...(isAll && { whole: true }) }, always === ALWAYS);
    return [
      ...part.call.map((row, i) => pane.styleText(TONE.attention, `${i === 0 ? "▲" : " "} ${row}`)),
      ...part.change.map((row) => `  ${row}`),
      ...[...part.reason, ...(isAll && !readOnly ? part.rules : [])].map((row) => quietRow(pane, row)),
    ];
  });
  const quietRows = (text: string): void => {
    for (const row of brokenRows(text, pane.width() - 2)) pane.row(quietRow(pane, row));
  };
  if (pane.live === undefined) {
    pane.begin("notice");
    for (const row of rows()) pane.row(row);
  }
  if (readOnly) {
    if (!isAll) quietRows(`all of it: teams approvals ${target}`);
    quietRows(`${commands}, or: teams reject ${target}`);
    return { rows, isAll, keys: [], keysRow: "" };
  }
  const keys = isAll ? [YES, NO, ...(ask.rules.length === 0 ? [] : [always])] : [SEE_ALL, NO];
  const all = [...keys, EXPLAIN];
  if (pane.live === undefined && !pane.isHosted)
    answerKeys(pane, keys, `or: ${isAll ? commands : `teams approvals ${target}`}`);
  return { rows, isAll, keys: all.map(([key]) => key), keysRow: keysRow(pane, all) };
}

/** Lays rows out again only for another size of the terminal: a live pane draws them with each key. */
function forSize(pane: PaneWriter, layOut: () => readonly string[]): () => readonly string[] {
  let laidOut: { readonly size: string; readonly rows: readonly string[] } | undefined;
  return () => {
    const size = `${pane.width()}×${pane.height()}`;
    if (laidOut?.size !== size) laidOut = { size, rows: layOut() };
    return laidOut.rows;
  };
}

function quietRow({ styleText }: PaneWriter, row: string): string {
  return `  ${styleText(TONE.quiet, row)}`;
}

/** Returns a request in which a person can read each character that the terminal cannot show. */
function asciiPrompt(ask: PermissionPrompt): PermissionPrompt {
  const { summary, path, reason, rules, change, subagent } = ask;
  return {
    ...ask,
    summary: asciiText(joinedLines(summary, " \\n ")),
    path: path && asciiText(path),
    subagent: subagent && asciiText(subagent),
    reason: asciiText(reason),
    rules: rules.map(asciiText),
    change: change.map(asciiText),
  };
}

/** Returns what the key `e` shows. @param name the agent, whose oldest request it is */
export function explanation(asked: PermissionPrompt, { ascii, cwd }: PaneWriter, name: string): string {
  const ask = ascii ? asciiPrompt(asked) : asked;
  const target = operand(gridText(name));
  const caller = ask.subagent === undefined ? "The agent" : `Its subagent “${gridText(ask.subagent)}”`;
  const always =
    ask.rules.length === 0
      ? "No rule can allow such calls in the future."
      : `a also allows later calls that match, while this agent runs: ${rulesText(ask.rules, cwd)}`;
  return [
    `${caller} asks for ${gridText(ask.tool)}. ${gridText(ask.reason)}`,
    always,
    "n refuses the call; the agent continues. To tell it why, type: no, because …",
    `From another pane: teams approve ${target}, or: teams reject ${target}`,
  ].join("\n");
}

/** Returns the key that adds rules: with the rules if all keys then fit into one row, else the rules are above the keys. */
function alwaysKey(pane: PaneWriter, { rules }: PermissionPrompt): Key {
  const named: Key = ["a", `always for ${rulesText(rules, pane.cwd)}`];
  const [keys, gap] =
    pane.live === undefined && !pane.isHosted
      ? [[YES, NO, named], KEY_GAP]
      : [[YES, NO, named, EXPLAIN], LIVE_KEY_GAP];
  const width = displayWidth(keys.map((key) => key.join(" ")).join(gap));
  return width <= pane.width() - 2 ? named : ALWAYS;
}

/**
 * Chooses the rows of a request that the pane shows.
 * @param withRules whether the rules that “always” adds have rows of their own
 */
function shownPart(
  pane: PaneWriter,
  {
    tool,
    summary,
    path,
    subagent: whose,
    reason: why,
    rules: added,
    change: changed,
    whole,
  }: PermissionPrompt,
  withRules: boolean,
): Record<"call" | "change" | "reason" | "rules", readonly string[]> & { readonly isAll: boolean } {
  const room = pane.width() - 2;
  const rowsIn = (text: string): string[] => rowsOf(text, room).flatMap((row) => brokenRows(row, room));
  const by = whose === undefined ? "" : `${whose}: `;
  const title = Object.hasOwn(TITLES, tool) ? TITLES[tool] : `Allow ${tool}?`;
  // The rows of a command's change are the command itself.
  const isInChange = tool === "Bash" && changed.length > 0;
  const callIn = (width: number): string[] => {
    const file = shortSummary({ summary, path }, pane.cwd, width);
    const what = file ?? joinedLines(summary, " ⏎ ");
    const row = gridText(`${by}${title}${isInChange ? "" : ` ${what}`}`);
    if (file === undefined || displayWidth(row) <= room) return rowsIn(row);
    return [...rowsIn(gridText(`${by}${title}`)), ...pathRows(file, room).flatMap(rowsIn)];
  };
  const call = callIn(Number.POSITIVE_INFINITY);
  const change = diffRows(changed, { width: room, plain: pane.plain });
  const reason = rowsIn(gridText(why));
  // Never cut: the key allows all of these rules.
  const rules = withRules && added.length > 0 ? rowsIn(`always: ${rulesText(added, pane.cwd)}`) : [];
  if (whole) return { call, change, reason, rules, isAll: true };
  const isLive = pane.live !== undefined;
  const left = pane.height() - (isLive ? LIVE_ANSWER_ROWS : ANSWER_ROWS) - reason.length;
  const fits = call.length + change.length + rules.length <= left;
  const callRows = Math.min(
    isLive ? Number.POSITIVE_INFINITY : pane.messageRows,
    fits ? Number.POSITIVE_INFINITY : Math.max(MIN_ROWS, Math.floor(left / 2) - 1),
  );
  // A path that would be cut is shortened in the middle: its end names the file.
  const shorter = call.length <= callRows || path === undefined ? call : callIn(room);
  const shownCall = firstRows(shorter, callRows);
  const changeRows = Math.min(
    isLive ? Number.POSITIVE_INFINITY : pane.changeRows,
    fits ? Number.POSITIVE_INFINITY : Math.max(MIN_ROWS, left - shownCall.length - 1),
  );
  const first = {
    call: shownCall,
    change: change.length <= changeRows + 1 ? change : mainRows(changed, change, changeRows, pane),
  };
  const isAll = fits && !isShortened(changed) && first.call === call && first.change === change;
  return { ...first, reason, rules, isAll };
}

/** Returns the first rows of a change that does not fit: a diff begins with its first changed line. */
function mainRows(
  changed: readonly string[],
  all: string[],
  limit: number,
  pane: PaneWriter,
): readonly string[] {
  const lines = diffLineRows(changed, { width: pane.width() - 2, plain: pane.plain });
  const first = lines.findIndex(({ line: { kind } }) => kind === "+" || kind === "-");
  if (first < 1) return firstRows(all, limit);
  const shown = lines
    .slice(first)
    .flatMap(({ rows }) => rows)
    .slice(0, limit);
  return [...shown, `… ${all.length - shown.length} more lines`];
}

/** Returns rules in one line, safe to print, with escapes for hidden characters in the name of a file. */
function rulesText(rules: readonly string[], cwd: string | undefined): string {
  return gridText(revealHidden(rules.map((rule) => shortRule(rule, cwd)).join(", ")));
}

/** Breaks a path after its slashes, so that a name stays whole if it fits into a row. */
function pathRows(path: string, width: number): readonly string[] {
  const rows = [""];
  for (const part of path.split(/(?<=\/)/)) {
    const last = `${rows.at(-1)}${part}`;
    if (displayWidth(last) <= width) rows[rows.length - 1] = last;
    else rows.push(part);
  }
  return rows.filter((row) => row !== "");
}

function keysRow({ styleText }: PaneWriter, keys: readonly Key[]): string {
  return keys.map(([key, word]) => `${styleText("bold", key)} ${word}`).join(LIVE_KEY_GAP);
}

/** Shows the keys and the command that answer a request, in one row if they fit. */
function answerKeys(pane: PaneWriter, keys: readonly Key[], command: string): void {
  const { styleText } = pane;
  const room = pane.width() - 2;
  const answers = keys.map(([key, word]) => `${styleText("bold", key)} ${word}`).join(KEY_GAP);
  const isOneRow =
    displayWidth(`${keys.map((words) => words.join(" ")).join(KEY_GAP)}${KEY_GAP}${command}`) <= room;
  if (!isOneRow) for (const row of brokenRows(command, room)) pane.row(`  ${styleText(TONE.quiet, row)}`);
  pane.row(`  ${answers}${isOneRow ? `   ${styleText(TONE.quiet, command)}` : ""}`);
}
