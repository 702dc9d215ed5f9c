import { withoutEnd } from "../../text/line-ends.ts";
import { withoutSpaces } from "../../text/without-spaces.ts";
import { withoutControls } from "../../tmux/keys.ts";
import type { Screen } from "../../tmux/screen.ts";
import { type InputShown, TAIL } from "../keys/input-line.ts";

/** A row that begins with the prompt of the input: ` > text`. An indented or framed row is a text or a dialog. */
const PROMPT = /^ ?(?:(>|\*|!)|\(r:\) ) (.*)$/;
/** The placeholder of the empty input, after two more spaces than a text has. A narrow pane wraps it. */
const PLACEHOLDER = /^ {2}(?:Type your(?: message| *$)|Press 'Esc' for NORMAL mode)/;
const VIM_NORMAL = /^ {2}Press 'i' for INSERT mode/;
/** A frame below the input: Gemini frames each dialog, but not its input. */
const FRAME = /[╭╮╰╯┌└│┃]/u;
/** A line that Gemini draws below an input without a background colour. */
const RULE = /^\s*[─▀▄]+\s*$/u;
/** A placeholder that replaces a long pasted text. */
const COLLAPSED = /^\[Pasted Text: (\d+) (lines|chars)(?: #\d+)?\]$/;
/** Text above the input that shows a running turn or a waiting text. */
const WORKING = /\besc to cancel\b|\bExecuting Hook\b|^ +Queued \(press /m;

const CLOSED: InputShown = {
  kind: "closed",
  why: "Gemini shows no input",
  remedy:
    "close the dialog in its pane; if that asks for a login, log in, or set GEMINI_API_KEY and restart the member",
};
const SHELL_MODE: InputShown = {
  kind: "closed",
  why: "its input is in shell mode",
  remedy: "press Escape in its pane; a message is waiting",
};
const SEARCH: InputShown = {
  kind: "closed",
  why: "its input is in search mode",
  remedy: "press Escape in its pane; a message is waiting",
};
const VIM_MODE: InputShown = {
  kind: "closed",
  why: "its input is in NORMAL mode",
  remedy: "press i in its pane; a message is waiting",
};

/**
 * Reads Gemini's input from its screen (0.61.0). The cursor does not mark the input: in a pane without focus, Gemini leaves it below its
 * screen.
 * @param text the text that was typed
 */
export function readGeminiInput({ rows, height }: Screen, text?: string): InputShown {
  const visible = rows.slice(-height);
  const at = visible.findLastIndex((row) => PROMPT.test(row));
  if (at < 0 || visible.slice(at + 1).some((row) => FRAME.test(row))) return CLOSED;
  const [, prompt, first = ""] = PROMPT.exec(visible[at] ?? "") ?? [];
  if (prompt === undefined) return SEARCH;
  if (prompt === "!") return SHELL_MODE;
  if (VIM_NORMAL.test(first)) return VIM_MODE;
  if (PLACEHOLDER.test(first)) return { kind: "empty" };
  const lines = [first, ...visible.slice(at + 1)].map((row) => row.trim());
  if (text !== undefined && containsOnly(lines, text)) return { kind: "typed" };
  const end = lines.findIndex((line, i) => i > 0 && isEnd(line));
  return { kind: "draft", text: lines.slice(0, end < 0 ? undefined : end).join(" ") };
}

/** Whether Gemini's screen shows a running turn, or a text that waits for one. */
export function isGeminiWorking({ rows, height }: Screen): boolean {
  return WORKING.test(rows.slice(-height).join("\n"));
}

/** Whether the input contains only this text. @param lines the screen from the input's first line; a long text may have scrolled */
function containsOnly(lines: readonly string[], text: string): boolean {
  // The text as it was typed.
  const clean = withoutEnd(withoutControls(text), "\n");
  const [, count, unit] = COLLAPSED.exec(lines[0] ?? "") ?? [];
  if (count !== undefined)
    return Number(count) === (unit === "lines" ? clean.split("\n").length : clean.length);
  const whole = withoutSpaces(clean);
  let shown = "";
  for (const [i, line] of lines.entries()) {
    shown += withoutSpaces(line);
    if (shown.length > whole.length) return false;
    const isEnough = shown.length === whole.length || shown.length >= TAIL;
    if (isEnough && isEnd(lines[i + 1] ?? "") && whole.endsWith(shown)) return true;
  }
  return false;
}

/** Whether a line may follow the last line of the input. */
function isEnd(line: string): boolean {
  return line === "" || RULE.test(line);
}
