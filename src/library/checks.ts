import { TEAMMATE_MODES } from "../backend/choose-backend.ts";
import { TeamError } from "../errors.ts";
import { PERMISSION_MODES, SANDBOX_MODES } from "../schema/permission-modes.ts";
import type { BudgetLimits } from "./values.ts";

/**
 * The values of the options that name one of a list. The types say the same; a program without types, and a value from elsewhere, could
 * write something else into the files of the team.
 */
const CHOICES = {
  permissionMode: PERMISSION_MODES,
  mode: PERMISSION_MODES,
  sandbox: SANDBOX_MODES,
  teammateMode: TEAMMATE_MODES,
  placement: ["here", "window", "session", "team-window"],
  status: ["pending", "in_progress", "completed"],
  save: ["user", "project", "local"],
  afterwards: ["keep", "delete"],
} as const;

/** The modes for carrying out a plan: all in which an agent works itself. */
export const WORKING_MODES = PERMISSION_MODES.filter((mode) => mode !== "plan" && mode !== "delegate");

type Chosen = { readonly [K in keyof typeof CHOICES]?: (typeof CHOICES)[K][number] | undefined };

/** Checks those options that name one of a list. @throws TeamError INVALID_INPUT */
export function requireChoices(options: Chosen): void {
  for (const [name, known] of Object.entries(CHOICES))
    requireChoice(name, options[name as keyof Chosen], known);
}

/** Checks the value of one option. @throws TeamError INVALID_INPUT */
export function requireChoice(name: string, value: string | undefined, known: readonly string[]): void {
  if (value === undefined || known.includes(value)) return;
  throw invalid(`${name} cannot be ${JSON.stringify(value)}`, `Give one of these: ${known.join(", ")}.`);
}

/** Checks limits of a budget: a NaN would be written as null. @throws TeamError INVALID_INPUT */
export function requireLimits({ maxTokens, maxCostUsd }: BudgetLimits = {}): void {
  if (maxTokens !== undefined && !(Number.isSafeInteger(maxTokens) && maxTokens > 0))
    throw invalid(`maxTokens cannot be ${maxTokens}`, "Give a whole number above zero, or leave it out.");
  if (maxCostUsd !== undefined && !(Number.isFinite(maxCostUsd) && maxCostUsd > 0))
    throw invalid(`maxCostUsd cannot be ${maxCostUsd}`, "Give US dollars above zero, or leave it out.");
}

/** Checks a number of lines. @throws TeamError INVALID_INPUT */
export function requireLines(lines: number): void {
  if (Number.isSafeInteger(lines) && lines > 0) return;
  throw invalid(`lines cannot be ${lines}`, "Give a whole number above zero.");
}

/** Checks a time limit in milliseconds. @throws TeamError INVALID_INPUT */
export function requireMilliseconds(timeoutMs: number | undefined): void {
  if (timeoutMs === undefined || (Number.isFinite(timeoutMs) && timeoutMs >= 0)) return;
  throw invalid(`timeoutMs cannot be ${timeoutMs}`, "Give a number of milliseconds.");
}

/** Returns a time in milliseconds since the epoch. @throws TeamError INVALID_INPUT for an invalid date */
export function timeOf(value: Date | number | undefined): number | undefined {
  if (value === undefined) return undefined;
  const at = Number(value);
  if (Number.isFinite(at)) return at;
  throw invalid("The time is invalid", "Give a Date, or milliseconds since the epoch.");
}

/** Checks metadata: keys that begin with `_` are those of programs. @throws TeamError INVALID_INPUT */
export function requireOpenKeys(metadata: Readonly<Record<string, unknown>> | undefined): void {
  const key = Object.keys(metadata ?? {}).find((one) => one.startsWith("_"));
  if (key === undefined) return;
  throw invalid(
    `The metadata cannot have the key ${key}`,
    "Keys that begin with _ are reserved for programs. Use another key.",
  );
}

/** Checks a text that a member reads. @throws TeamError INVALID_INPUT */
export function requireText(text: string, what: string): void {
  if (typeof text !== "string") throw noText(`The ${what}`);
  if (text.trim() === "") throw new TeamError("INVALID_INPUT", `The ${what} is empty; nothing was done.`);
}

/**
 * Checks optional texts that go into a file: with another value in it, such as a null, no program could read the file.
 * @throws TeamError INVALID_INPUT
 */
export function requireTexts(texts: Readonly<Record<string, string | undefined>>): void {
  for (const [name, text] of Object.entries(texts))
    if (text !== undefined && typeof text !== "string") throw noText(name);
}

/** Most bytes of a text that becomes an argument: Linux starts no program with one of 128 KiB, which includes the option's name. */
const MAX_ARGUMENT_BYTES = 128_000;

/** Checks optional texts that become arguments of a program. @throws TeamError INVALID_INPUT */
export function requireArguments(texts: Readonly<Record<string, string | undefined>>): void {
  requireTexts(texts);
  for (const [name, text] of Object.entries(texts))
    if (Buffer.byteLength(text ?? "") > MAX_ARGUMENT_BYTES)
      throw invalid(
        `${name} is longer than ${MAX_ARGUMENT_BYTES} bytes`,
        "Shorten it, or put the text into a file that the goal names.",
      );
}

function noText(what: string): TeamError {
  return invalid(`${what} is not a text`, "Give a string.");
}

function invalid(what: string, hint: string): TeamError {
  return new TeamError("INVALID_INPUT", `${what}; nothing was done.`, { hint });
}
