import type { AgentEvent } from "../../agent/events.ts";
import { after, steadyNow } from "../../os/clock.ts";
import { cutToWidth, displayWidth } from "../../text/cell-width.ts";
import { compact } from "../../text/compact-number.ts";
import { duration } from "../../text/duration.ts";
import { type CallWithPath, shortSummary } from "../../text/short-call.ts";
import { type Style, type Styler, TONE } from "../../text/style.ts";
import { gridText } from "../../text/terminal-text.ts";
import { addSubagentAction, OWN_COMMAND, type RunningCall, runningRows } from "./running-rows.ts";

/** The part of the terminal that shows the agent's activity. */
export interface ActivityPlace {
  activity(row: string | undefined, details?: () => readonly string[]): void;
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

/** Shows an agent's turn in one row: the running call, its time, the tokens so far, and the key that interrupts it. */
export interface Activity {
  event(event: AgentEvent): void;
  /** Shows the action of a subagent below its call. @returns false if no such call runs */
  subagent(event: Extract<AgentEvent, { type: "subagent" }>): boolean;
  /** Shows the keys that answer an open question instead, until it is answered. */
  ask(keys: string | undefined): void;
  /** Removes the row and its timer. The keys of an open question stay: a background subagent may ask it. */
  stop(): void;
}

const SECOND = 1_000;
const SEPARATOR = " · ";
/** Minimum columns for the name of the running call; with fewer, the facts after it are left out. */
const MIN_NAME = 12;

export function followActivity({ place, styleText, own, cwd, width }: ActivityOptions): Activity {
  const calls = new Map<string, RunningCall>();
  let isRunning = false;
  /** When the model began to think. */
  let thinksSince = 0;
  let tokens = 0;
  let isWriting = false;
  let isCompacting = false;
  let question: string | undefined;
  let cancel: (() => void) | undefined;

  /** Returns the current activity, and when it began. */
  const currentActivity = (): { name: string; what: string; since: number; call?: CallWithPath } => {
    const [first, second] = [...calls.values()];
    if (isCompacting) return { name: "Compacting", what: "", since: thinksSince };
    if (first === undefined)
      return { name: isWriting ? "Writing" : "Thinking", what: "", since: thinksSince };
    const { tool: name, summary: what, since } = first;
    if (second === undefined) return { name, what, since, call: first };
    return { name: `${calls.size} calls`, what: "", since };
  };
  const row = ({ name, what, call }: ReturnType<typeof currentActivity>, seconds: number): string => {
    const time = duration(seconds);
    const facts = [time, ...(tokens === 0 ? [] : [`${compact(tokens)} tokens`]), "Esc interrupts"];
    // In a narrow pane, the key comes before the tokens, and the name of a file before both.
    const tails = [facts, [time, "Esc"], ["Esc"], []].map((words) =>
      words.map((word) => `${SEPARATOR}${word}`).join(""),
    );
    const roomFor = (tail: string): number => width() - 3 - displayWidth(tail);
    const pathFor = (tail: string): string | undefined =>
      call && shortSummary(call, cwd, roomFor(tail) - 1 - displayWidth(name));
    const fits = (tail: string): boolean => {
      const path = pathFor(tail);
      return path === undefined
        ? tail.length <= width() - MIN_NAME
        : displayWidth(`${name} ${path}`) <= roomFor(tail);
    };
    const tail = tails.find(fits) ?? "";
    const room = roomFor(tail);
    const title = cutToWidth(gridText(name), room);
    const left = Math.max(0, room - 1 - displayWidth(title));
    const rest = cutToWidth(pathFor(tail) ?? gridText(what), left);
    const text = `${styleText("bold", title)}${rest === "" ? "" : ` ${rest}`}`;
    return `${styleText(own, "●")} ${text}${styleText(TONE.quiet, tail)}`;
  };
  const details = (): readonly string[] =>
    runningRows(
      // The question shows more about a call that waits for an answer.
      [...calls.values()].filter(({ asked }) => asked === undefined),
      cwd,
      width() - 1,
    ).map((text) => styleText(TONE.quiet, text));
  const draw = (): void => {
    cancel?.();
    cancel = undefined;
    const shown = calls.size === 0 ? undefined : details;
    if (question !== undefined || !(isRunning || calls.size > 0)) {
      place.activity(question, question === undefined ? undefined : shown);
      return;
    }
    const now = currentActivity();
    const ms = Math.max(0, steadyNow() - now.since);
    place.activity(row(now, Math.floor(ms / SECOND)), shown);
    cancel = after(SECOND - (ms % SECOND), draw);
  };
  const markAsked = (ask: Extract<AgentEvent, { type: "permission_asked" }>): void => {
    // The id in another program's request may differ from the id of its call.
    const call =
      calls.get(ask.id) ??
      [...calls.values()].find(
        ({ tool, summary, asked }) => asked === undefined && tool === ask.tool && summary === ask.summary,
      );
    if (call !== undefined) call.asked = ask.id;
  };
  /** Starts the time of a call whose request has been answered. */
  const markRunning = (id: string): void => {
    const call = [...calls.values()].find(({ asked }) => asked === id);
    if (call === undefined) return;
    call.asked = undefined;
    call.since = steadyNow();
  };
  const begin = (): void => {
    isRunning = true;
    thinksSince = steadyNow();
    tokens = 0;
  };
  /** Forgets the agent's calls; a person's own command needs no turn. */
  const forgetCalls = (): void => {
    for (const [id, { tool }] of calls) if (tool !== OWN_COMMAND) calls.delete(id);
  };
  const stop = (): void => {
    forgetCalls();
    tokens = 0;
    isRunning = false;
    isCompacting = false;
    draw();
  };
  return {
    event(event) {
      switch (event.type) {
        case "turn_started":
          forgetCalls();
          begin();
          isWriting = false;
          isCompacting = false;
          break;
        case "compacting":
          isCompacting = true;
          // Between two turns, it has its own time and tokens.
          if (!isRunning) begin();
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
        case "tool_started": {
          const { id, tool, summary, path } = event;
          calls.set(id, { tool, summary, path, since: steadyNow(), tail: "", asked: undefined });
          break;
        }
        case "permission_asked":
          markAsked(event);
          return;
        case "permission_decided":
          markRunning(event.id);
          break;
        case "tool_output": {
          const call = calls.get(event.id);
          if (call === undefined) return;
          call.tail = event.tail;
          break;
        }
        case "tool_ended":
          calls.delete(event.id);
          if (calls.size === 0) thinksSince = steadyNow();
          break;
        case "turn_ended":
          stop();
          return;
        default:
          return;
      }
      draw();
    },
    subagent(event) {
      const isAdded = addSubagentAction(calls.values(), event);
      if (isAdded) draw();
      return isAdded;
    },
    ask(keys) {
      question = keys;
      draw();
    },
    stop,
  };
}
