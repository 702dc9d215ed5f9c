import type { Env } from "../os/env.ts";
import type { AgentState } from "../schema/status.ts";
import type { TaskStatus } from "../schema/task.ts";
import { memberColor, type Style, styled, TONE } from "../text/style.ts";
import { printableJson, stripControls } from "../text/terminal-text.ts";
import type { Io } from "./io.ts";

/** The meaning of a word, or the member that it belongs to, by the name of its colour (protocol.md section 2). */
export type TextStyle = keyof typeof TONE | "bold" | { readonly member: string | undefined };

/** Styled text that is safe to print. */
export interface StyledText {
  readonly styled: string;
  /** The same text without styles. */
  readonly plain: string;
}

export type SafeStyler = (text: string, ...styles: readonly TextStyle[]) => StyledText;

/** Returns a function that styles text for a stream; without colours it only makes text safe. */
export function safeStyler(colors: boolean): SafeStyler {
  return (text, ...styles) => {
    const safe = visible(text);
    const out = colors && safe !== "" ? styled(safe, styles.map(toStyle)) : safe;
    return { styled: out, plain: safe };
  };
}

function toStyle(style: TextStyle): Style {
  if (style === "bold") return style;
  return typeof style === "string" ? TONE[style] : memberColor(style.member);
}

/** Returns whether output to a stream has colours (https://no-color.org; `FORCE_COLOR` for recordings of a pipe). */
export function wantsColors(env: Env, isTerminal: boolean): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR && env.FORCE_COLOR !== "0") return true;
  return isTerminal && env.TERM !== "dumb";
}

/** The styles of each state: states that wait for a person are bold, inactive ones quiet. */
export const STATE_STYLES: Readonly<Record<AgentState, readonly TextStyle[]>> = {
  starting: ["busy"],
  running: ["good"],
  idle: ["quiet"],
  "awaiting-approval": ["bold", "attention"],
  "needs-input": ["bold", "attention"],
  throttled: ["attention"],
  paused: ["attention"],
  stopping: ["quiet"],
  failed: ["bold", "bad"],
  exited: ["quiet"],
  crashed: ["bold", "bad"],
  unknown: ["quiet"],
};

export const TASK_STYLES: Readonly<Record<TaskStatus, readonly TextStyle[]>> = {
  pending: [],
  in_progress: ["good"],
  completed: ["quiet"],
};

/** Returns foreign text as one line without control sequences. */
export function visible(text: string): string {
  return stripControls(text).replace(/[\n\t]+/g, " ");
}

/** Builds a line from a template and makes each value safe; styled values are safe already. */
export function line(
  parts: TemplateStringsArray,
  ...values: readonly (string | number | StyledText)[]
): string {
  return parts.reduce((text, part, i) => `${text}${shown(values[i - 1] ?? "")}${part}`);
}

export function shown(value: string | number | StyledText): string {
  if (typeof value === "object") return value.styled;
  return typeof value === "number" ? String(value) : visible(value);
}

/** The output of a command. Foreign text must go through `visible`, `line` or `table` first. */
export interface Output {
  /** Whether stdout gets only JSON (`--json`). */
  readonly json: boolean;
  readonly verbose: boolean;
  readonly styleText: SafeStyler;
  /** Columns of the terminal; undefined if stdout is not a terminal. */
  readonly columns: number | undefined;
  /** Prints the requested data: the value with `--json`, else its text. */
  answer(value: object, text: () => string): void;
  /** Prints what was done: the value with `--json`, else a text, which `--quiet` omits. */
  done(value: object, text: () => string): void;
  /** Prints one item of a stream: with `--json`, one object per line. */
  item(value: object, text: () => string): void;
  /** Prints advice on stderr; omitted with `--quiet` and with `--json`. */
  note(text: string): void;
}

interface OutputOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
}

export function openOutput(io: Io, { json, quiet, verbose }: OutputOptions): Output {
  const print = (text: string): void => {
    if (text !== "") io.out(`${text}\n`);
  };
  const jsonText = (value: object): string => printableJson(value, io.terminal.stdout ? 2 : undefined);
  return {
    json,
    verbose,
    // Getters: they open stdout, which a command may never use with `--quiet`.
    get styleText() {
      return safeStyler(wantsColors(io.env, io.terminal.stdout));
    },
    get columns() {
      return io.columns;
    },
    answer: (value, text) => print(json ? jsonText(value) : text()),
    done: (value, text) => {
      if (json || !quiet) print(json ? jsonText(value) : text());
    },
    item: (value, text) => print(json ? printableJson(value) : text()),
    note: (text) => {
      if (!json && !quiet) io.err(`${text}\n`);
    },
  };
}
