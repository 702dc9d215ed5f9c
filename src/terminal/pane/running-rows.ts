import { cutToWidth, displayWidth } from "../../text/cell-width.ts";
import { textEnd } from "../../text/characters/cut-text.ts";
import { type CallWithPath, shortCall, shortSummary } from "../../text/short-call.ts";
import { gridText, stripControls } from "../../text/terminal-text.ts";

/** A call without a result. */
export interface RunningCall extends CallWithPath {
  readonly tool: string;
  /** When it began to run, in milliseconds of the steady clock. */
  since: number;
  /** The id of its open permission request. */
  asked: string | undefined;
  /** The end of its output so far, or the last actions of a subagent. */
  tail: string;
}

/** Maximum rows of one call's output, or of the list of running calls. */
const ROWS = 3;
/** Maximum characters of the output that are laid out: each key press repeats it. */
const MAX_TAIL = 4_096;
const INDENT = "  ";
/** The tool of a person's own command. */
export const OWN_COMMAND = "!";
const SUBAGENT_TOOLS: ReadonlySet<string> = new Set(["Agent", "Task"]);

/** Returns the details of the running calls: the last output of a single call, or a row for each of several calls. */
export function runningRows(
  calls: readonly RunningCall[],
  cwd: string | undefined,
  width: number,
): readonly string[] {
  const room = width - INDENT.length;
  const [first, second] = calls;
  if (first === undefined) return [];
  const rows = second === undefined ? tailRows(first, cwd, room) : callRows(calls, cwd, room);
  return rows.map((row) => cutToWidth(`${INDENT}${row}`, width));
}

function tailRows(
  { tool, tail }: RunningCall,
  cwd: string | undefined,
  room: number,
  limit = ROWS,
): readonly string[] {
  if (tail === "") return [];
  const end = stripControls(textEnd(tail, MAX_TAIL));
  const rows = end.replaceAll("\t", "    ").trimEnd().split("\n").slice(-limit);
  return rows.map((text) =>
    SUBAGENT_TOOLS.has(tool) ? shortCall(gridText(text), cwd, room).text : cutToWidth(gridText(text), room),
  );
}

function callRows(calls: readonly RunningCall[], cwd: string | undefined, room: number): readonly string[] {
  // Instead of “1 more call”, show that call.
  const shown = calls.length <= ROWS + 1 ? calls : calls.slice(0, ROWS);
  const rows = shown.map((call) => {
    const tool = gridText(call.tool);
    const left = room - displayWidth(tool) - 1;
    const what = `${tool} ${shortSummary(call, cwd, left) ?? cutToWidth(gridText(call.summary), left)}`;
    const [last = ""] = tailRows(call, cwd, room - displayWidth(what) - 3, 1);
    return last === "" ? what : `${what} · ${last}`;
  });
  return shown.length === calls.length ? rows : [...rows, `… ${calls.length - shown.length} more calls`];
}

/**
 * Adds an action of a subagent to the call that runs it.
 * @returns false if no such call runs: the subagent works in the background
 */
export function addSubagentAction(
  calls: Iterable<RunningCall>,
  { what, action }: { readonly what: string; readonly action: string },
): boolean {
  const running = [...calls].filter(({ tool }) => SUBAGENT_TOOLS.has(tool));
  const call = running.find(({ summary }) => summary.endsWith(what)) ?? running[0];
  if (call === undefined) return false;
  const before = call.tail
    .split("\n")
    .filter((row) => row !== "")
    .slice(-ROWS);
  call.tail = [...before, action.replaceAll("\n", " ")].join("\n");
  return true;
}
