import { resolve } from "node:path";
import { TeamError } from "../errors.ts";
import { taskNumber } from "../runtime/commands/task-number.ts";
import type { BudgetLimits } from "../schema/budget.ts";
import { defined } from "../schema/defined.ts";
import type { Io } from "../terminal/io.ts";
import { dollarAmount, tokenAmount } from "../text/amounts.ts";

/**
 * Returns a text operand: its words joined by spaces, or the text on stdin for a lone `-`.
 * @param what the name of the text in the error
 * @throws TeamError INVALID_INPUT if it is empty
 */
export async function textArgument(
  io: Pick<Io, "readStdin">,
  words: readonly string[],
  what: string,
): Promise<string> {
  const fromStdin = words.length === 1 && words[0] === "-";
  const text = fromStdin ? withoutLastNewline(await io.readStdin()) : words.join(" ");
  if (text.trim() !== "") return text;
  throw new TeamError("INVALID_INPUT", `The ${what} is empty; nothing was done.`, {
    hint: `Write the ${what} on the command line, or give - and pass it on stdin.`,
  });
}

/** Like {@link textArgument}, for the value of an option; undefined if the option is not given. */
export async function textOption(
  io: Pick<Io, "readStdin">,
  value: string | undefined,
  what: string,
): Promise<string | undefined> {
  return value === undefined ? undefined : textArgument(io, [value], what);
}

function withoutLastNewline(text: string): string {
  return text.endsWith("\n") ? text.slice(0, text.endsWith("\r\n") ? -2 : -1) : text;
}

/** Maximum time of a Node timer in seconds. */
const MAX_SECONDS = 2_147_483;

/** Converts a duration in seconds to milliseconds. @throws TeamError INVALID_INPUT */
export function secondsOption(value: string | undefined, option: string): number | undefined {
  if (value === undefined) return undefined;
  const seconds = /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
  if (seconds <= MAX_SECONDS) return Math.round(seconds * 1000);
  throw new TeamError("INVALID_INPUT", `--${option} cannot be ${JSON.stringify(value)}.`, {
    hint: `Give a number of seconds, up to ${MAX_SECONDS}: --${option} 30`,
  });
}

/** Maximum number of lines or entries that an option accepts. */
const MAX_COUNT = 9_999_999;

/** Parses a whole number above zero. @throws TeamError INVALID_INPUT */
export function countOption(value: string | undefined, option: string, max = MAX_COUNT): number | undefined {
  if (value === undefined) return undefined;
  const count = /^[1-9]\d*$/.test(value) ? Number(value) : Number.NaN;
  if (count <= max) return count;
  throw new TeamError("INVALID_INPUT", `${option} cannot be ${JSON.stringify(value)}.`, {
    hint: `Give a whole number from 1 to ${max}: ${option} 50`,
  });
}

/** Parses an amount above zero. @throws TeamError INVALID_INPUT */
export function amountOption(
  value: string | undefined,
  option: string,
  kind: "whole" | "any" = "any",
): number | undefined {
  if (value === undefined) return undefined;
  const amount = kind === "whole" ? tokenAmount(value) : dollarAmount(value);
  if (amount !== undefined) return amount;
  throw new TeamError("INVALID_INPUT", `${option} cannot be ${JSON.stringify(value)}.`, {
    hint:
      kind === "whole"
        ? `Give a whole number above zero: ${option} 500000, or 500k, or 1.5M`
        : `Give an amount above zero: ${option} 2.50`,
  });
}

/** Splits a list that was given in several options or with commas: `--blocked-by 1,2 --blocked-by 3`. */
export function listOption(values: readonly string[]): string[] {
  return values
    .flatMap((value) => value.split(","))
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/**
 * Parses an ISO date or time, or a number of seconds ago, to milliseconds since the epoch.
 * @throws TeamError INVALID_INPUT
 */
export function timeOption(value: string | undefined, option: string, now: number): number | undefined {
  if (value === undefined) return undefined;
  const at = /^\d+(\.\d+)?$/.test(value) ? now - Number(value) * 1000 : Date.parse(value);
  if (Number.isFinite(at)) return at;
  throw new TeamError("INVALID_INPUT", `--${option} cannot be ${JSON.stringify(value)}.`, {
    hint: `Give a time (2025-01-31T12:00) or a number of seconds ago (--${option} 600).`,
  });
}

/** Parses a task's number: `3` or `#3`. @throws TeamError INVALID_INPUT */
export function parseTaskId(word: string): string {
  return taskNumber(word, "Give a number from `teams task list`: 3 or #3.");
}

/** Returns `1 task` or `12 tasks`. */
export function pluralized(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Formats a file's size: `812 bytes`, `34 kB`, `1.2 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return pluralized(bytes, "byte");
  const [unit, size] = bytes < 999_500 ? ["kB", bytes / 1e3] : ["MB", bytes / 1e6];
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${unit}`;
}

/** The shorthand of `--permission-mode` that Claude Code has. */
export const BYPASS_SWITCH = { name: "dangerously-skip-permissions", value: "bypassPermissions" } as const;

/** The option of a command whose agents' screens are recorded. */
export const REC_OPTION = {
  value: "directory",
  valueOptional: true,
  inline: true,
  summary:
    "record the screen of each pane for teams replay, including secrets (default: into teams-casts in ~/.claude)",
} as const;

/** Returns the absolute directory of `--rec`; `true` for the directory of the team's recordings. */
export function recOption(value: string | true | undefined, cwd: string): string | true | undefined {
  return typeof value === "string" ? resolve(cwd, value) : value;
}

/** The options of a command that set a budget. */
export const BUDGET_OPTIONS = {
  maxTokens: {
    value: "tokens",
    summary: "maximum tokens to use, such as 500k: a warning at 80 %, a pause at 100 % (default: no limit)",
  },
  maxCost: {
    value: "dollars",
    summary: "maximum cost in US dollars; only for models with a known price (default: no limit)",
  },
} as const;

/** @throws TeamError INVALID_INPUT */
export function limitsFromOptions(options: {
  readonly maxTokens: string | undefined;
  readonly maxCost: string | undefined;
}): BudgetLimits {
  return defined({
    maxTokens: amountOption(options.maxTokens, "--max-tokens", "whole"),
    maxCostUsd: amountOption(options.maxCost, "--max-cost"),
  });
}
