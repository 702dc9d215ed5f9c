import type { AgentEvent } from "../../agent/events.ts";
import { after, steadyNow } from "../../os/clock.ts";
import { cutToWidth, displayWidth } from "../../text/cell-width.ts";
import { compact } from "../../text/compact-number.ts";
import { duration } from "../../text/duration.ts";
import { type CallOfPath, shortSummary } from "../../text/short-call.ts";
import { type Style, type Styler, TONE } from "../../text/style.ts";
import { gridText, stripControls } from "../../text/terminal-text.ts";

/** The part of the terminal that shows what the agent does now. */
export interface ActivityPlace {
  activity(row: string | undefined): void;
  progress(rows: (() => readonly string[]) | undefined): void;
}

interface ActivityOptions {
  readonly place: ActivityPlace;
  readonly styleText: Styler;
  /** Paths are shown relative to it. */
  readonly cwd: string | undefined;
  /** The member's colour. */
  readonly own: Style;
  width(): number;
}

/** Follows an agent's turn in one row: what runs, for how long, the tokens so far, and the key that interrupts it. */
export interface Activity {
  event(event: AgentEvent): void;
  /** Shows the keys that answer an open question instead, until it is answered. */
  ask(keys: string | undefined): void;
  /** The agent does nothing: no row, and no timer. */
  stop(): void;
}

interface RunningCall extends CallOfPath {
  readonly tool: string;
  /** The end of its output so far. */
  tail: string;
}

const SECOND = 1_000;
/** Rows shown of a running command's output. */
const TAIL_ROWS = 3;
const SEPARATOR = " · ";
/** Columns for the name of what runs, below which the facts after it are left out. */
const MIN_NAME = 12;

export function followActivity({ place, styleText, own, cwd, width }: ActivityOptions): Activity {
  const calls = new Map<string, RunningCall>();
  let since: number | undefined;
  let tokens = 0;
  let isWriting = false;
  let isCompacting = false;
  let question: string | undefined;
  let cancel: (() => void) | undefined;

  const doing = (): readonly [name: string, what: string, call?: CallOfPath] => {
    const [first, second] = [...calls.values()];
    if (isCompacting) return ["Compacting", ""];
    if (first === undefined) return [isWriting ? "Writing" : "Thinking", ""];
    if (second === undefined) return [first.tool, first.summary, first];
    return [`${calls.size} calls`, [...calls.values()].map(({ tool }) => tool).join(", ")];
  };
  const row = (seconds: number): string => {
    const [name, what, call] = doing();
    const time = duration(seconds);
    const facts = [time, ...(tokens === 0 ? [] : [`${compact(tokens)} tokens`]), "Esc interrupts"];
    // In a narrow pane, the key comes before the tokens, and the name of a file before both.
    const tails = [facts, [time, "Esc"], ["Esc"], []].map((words) =>
      words.map((word) => `${SEPARATOR}${word}`).join(""),
    );
    const roomBeside = (tail: string): number => width() - 3 - displayWidth(tail);
    const pathBeside = (tail: string): string | undefined =>
      call && shortSummary(call, cwd, roomBeside(tail) - 1 - displayWidth(name));
    const fits = (tail: string): boolean => {
      const path = pathBeside(tail);
      return path === undefined
        ? tail.length <= width() - MIN_NAME
        : displayWidth(`${name} ${path}`) <= roomBeside(tail);
    };
    const tail = tails.find(fits) ?? "";
    const room = roomBeside(tail);
    const title = cutToWidth(gridText(name), room);
    const left = Math.max(0, room - 1 - displayWidth(title));
    const rest = cutToWidth(pathBeside(tail) ?? gridText(what), left);
    const text = `${styleText("bold", title)}${rest === "" ? "" : ` ${rest}`}`;
    return `${styleText(own, "●")} ${text}${styleText(TONE.quiet, tail)}`;
  };
  const tailRows = (): readonly string[] => {
    const last = [...calls.values()].findLast(({ tail }) => tail !== "");
    if (last === undefined) return [];
    const rows = stripControls(last.tail).replaceAll("\t", "    ").trimEnd().split("\n").slice(-TAIL_ROWS);
    return rows.map((text) => styleText(TONE.quiet, `  ${cutToWidth(gridText(text), width() - 4)}`));
  };
  const draw = (): void => {
    cancel?.();
    cancel = undefined;
    if (question !== undefined || since === undefined) {
      place.activity(question);
      return;
    }
    const ms = steadyNow() - since;
    place.activity(row(Math.floor(ms / SECOND)));
    cancel = after(SECOND - (ms % SECOND), draw);
  };
  const showTail = (): void => place.progress(calls.size === 0 ? undefined : tailRows);
  const stop = (): void => {
    calls.clear();
    since = undefined;
    isCompacting = false;
    question = undefined;
    draw();
  };
  return {
    event(event) {
      switch (event.type) {
        case "turn_started":
          calls.clear();
          since = steadyNow();
          tokens = 0;
          isWriting = false;
          isCompacting = false;
          break;
        case "compacting":
          isCompacting = true;
          // Between two turns, it has a time and tokens of its own.
          if (since === undefined) tokens = 0;
          since ??= steadyNow();
          break;
        case "compacted":
          isCompacting = false;
          break;
        case "text":
          if (isWriting) return;
          isWriting = true;
          break;
        case "message":
          isWriting = false;
          break;
        case "spent":
          tokens += event.usage.output;
          break;
        case "tool_started":
          calls.set(event.id, { tool: event.tool, summary: event.summary, path: event.path, tail: "" });
          break;
        case "tool_output": {
          const call = calls.get(event.id);
          if (call !== undefined) call.tail = event.tail;
          showTail();
          return;
        }
        case "tool_ended":
          calls.delete(event.id);
          showTail();
          break;
        case "turn_ended":
          stop();
          showTail();
          return;
        default:
          return;
      }
      draw();
    },
    ask(keys) {
      question = keys;
      draw();
    },
    stop,
  };
}
