import type { Env } from "../os/env.ts";
import type { AgentState } from "../schema/status.ts";
import type { TaskStatus } from "../schema/task.ts";
import { paletteIndex, TONE } from "../text/colors.ts";
import { displayWidth, stripControls } from "../text/terminal-text.ts";

/** What a word means, or whose it is; a member's colour goes by its name (protocol.md section 2). */
export type Tint = keyof typeof TONE | "bold" | { readonly member: string | undefined };

/** Text that is safe to print and has its colour. */
export interface Painted {
  readonly painted: string;
  /** Cells that it takes. */
  readonly width: number;
}

export type Paint = (text: string, ...tints: readonly Tint[]) => Painted;

/** The painter for a stream; without colours it only makes the text safe. */
export function painter(colors: boolean): Paint {
  return (text, ...tints) => {
    const safe = visible(text);
    const codes = tints.map(sgr).filter((code) => code !== undefined);
    const bare = !colors || codes.length === 0 || safe === "";
    return { painted: bare ? safe : `\x1b[${codes.join(";")}m${safe}\x1b[0m`, width: displayWidth(safe) };
  };
}

function sgr(tint: Tint): string | undefined {
  if (tint === "bold") return "1";
  const index = typeof tint === "string" ? TONE[tint] : paletteIndex(tint.member);
  return index === undefined ? undefined : `38;5;${index}`;
}

/** Whether to colour what goes to a stream (https://no-color.org; `FORCE_COLOR` for recordings of a pipe). */
export function wantsColors(env: Env, isTerminal: boolean): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR && env.FORCE_COLOR !== "0") return true;
  return isTerminal && env.TERM !== "dumb";
}

/** How each state shows: what waits for a person stands out, what rests steps back. */
export const STATE_TINTS: Readonly<Record<AgentState, readonly Tint[]>> = {
  starting: ["busy"],
  running: ["good"],
  idle: ["quiet"],
  "awaiting-approval": ["bold", "attention"],
  "needs-input": ["bold", "attention"],
  throttled: ["attention"],
  paused: ["attention"],
  stopping: ["quiet"],
  exited: ["quiet"],
  crashed: ["bold", "bad"],
  unknown: ["quiet"],
};

export const TASK_TINTS: Readonly<Record<TaskStatus, readonly Tint[]>> = {
  pending: [],
  in_progress: ["good"],
  completed: ["quiet"],
};

/** Foreign text on one line: nothing in it acts on the terminal, and it cannot begin a line of its own. */
export function visible(text: string): string {
  return stripControls(text).replace(/[\n\t]+/g, " ");
}

/** A line of ours with foreign words in it: each is made safe; painted ones are already. */
export function line(parts: TemplateStringsArray, ...values: readonly (string | number | Painted)[]): string {
  return parts.reduce((text, part, i) => `${text}${shown(values[i - 1] ?? "")}${part}`);
}

export function shown(value: string | number | Painted): string {
  if (typeof value === "object") return value.painted;
  return typeof value === "number" ? String(value) : visible(value);
}
