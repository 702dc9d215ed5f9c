import { TEAMMATE_MODES } from "../backend/choose-backend.ts";
import { TeamError } from "../errors.ts";
import { PERMISSION_MODES, SANDBOX_MODES } from "../schema/permission-modes.ts";
import { SETTINGS_SCOPES } from "../settings/settings-files.ts";
import type { BudgetLimits } from "./values.ts";

/**
 * The allowed values of the options that have a fixed list of them. The types say the same, but a JavaScript program or unchecked input
 * could otherwise write other values into the files of the team.
 */
const CHOICES = {
  permissionMode: PERMISSION_MODES,
  mode: PERMISSION_MODES,
  sandbox: SANDBOX_MODES,
  teammateMode: TEAMMATE_MODES,
  placement: ["here", "window", "session", "team-window"],
  status: ["pending", "in_progress", "completed"],
  save: SETTINGS_SCOPES,
  afterwards: ["keep", "delete"],
} as const;

type Chosen = { readonly [K in keyof typeof CHOICES]?: (typeof CHOICES)[K][number] | undefined };

/** Checks the options that have a fixed list of values. @throws TeamError INVALID_INPUT */
export function requireChoices(options: Chosen): void {
  for (const [name, known] of Object.entries(CHOICES))
    requireChoice(name, options[name as keyof Chosen], known);
}

/** Checks the value of one option. @throws TeamError INVALID_INPUT */
export function requireChoice(name: string, value: string | undefined, known: readonly string[]): void {
  if (value === undefined || known.includes(value)) return;
  throw invalid(`${name} cannot be ${JSON.stringify(value)}`, `Pass one of these: ${known.join(", ")}.`);
}

/** Checks the limits of a budget: a NaN would be written as null. @throws TeamError INVALID_INPUT */
export function requireLimits({ maxTokens, maxCostUsd }: BudgetLimits = {}): void {
  if (maxTokens !== undefined && !(Number.isSafeInteger(maxTokens) && maxTokens > 0))
    throw invalid(`maxTokens cannot be ${maxTokens}`, "Pass a whole number above zero, or omit the limit.");
  if (maxCostUsd !== undefined && !(Number.isFinite(maxCostUsd) && maxCostUsd > 0))
    throw invalid(`maxCostUsd cannot be ${maxCostUsd}`, "Pass US dollars above zero, or omit the limit.");
}

/** Checks a number of lines. @throws TeamError INVALID_INPUT */
export function requireLines(lines: number): void {
  if (Number.isSafeInteger(lines) && lines > 0) return;
  throw invalid(`lines cannot be ${lines}`, "Pass a whole number above zero.");
}

/** Checks a time limit in milliseconds. @throws TeamError INVALID_INPUT */
export function requireMilliseconds(timeoutMs: number | undefined): void {
  if (timeoutMs === undefined || (Number.isFinite(timeoutMs) && timeoutMs >= 0)) return;
  throw invalid(`timeoutMs cannot be ${timeoutMs}`, "Pass a number of milliseconds, zero or more.");
}

/** Returns a time in milliseconds since the epoch. @throws TeamError INVALID_INPUT for an invalid date */
export function timeOf(value: Date | number | undefined): number | undefined {
  if (value === undefined) return undefined;
  const at = Number(value);
  if (Number.isFinite(at)) return at;
  throw invalid("The time is invalid", "Pass a valid Date, or milliseconds since the epoch.");
}

/** Checks metadata: keys that begin with `_` are reserved. @throws TeamError INVALID_INPUT */
export function requireOpenKeys(metadata: Readonly<Record<string, unknown>> | undefined): void {
  const key = Object.keys(metadata ?? {}).find((one) => one.startsWith("_"));
  if (key === undefined) return;
  throw invalid(
    `The metadata cannot have the key ${key}`,
    "Keys that begin with _ are reserved. Use another key.",
  );
}

/** Checks a text that a member reads. @throws TeamError INVALID_INPUT */
export function requireText(text: string, what: string): void {
  if (typeof text !== "string") throw notAString(`The ${what}`);
  if (text.trim() === "") throw new TeamError("INVALID_INPUT", `The ${what} is empty; nothing was done.`);
}

/**
 * Checks optional texts that are written to a file: a value of another type, such as null, would make the file unreadable.
 * @throws TeamError INVALID_INPUT
 */
export function requireTexts(texts: Readonly<Record<string, string | undefined>>): void {
  for (const [name, text] of Object.entries(texts))
    if (text !== undefined && typeof text !== "string") throw notAString(name);
}

/** Maximum bytes of a text that becomes an argument: Linux refuses an argument of 128 KiB, including the name of the option. */
const MAX_ARGUMENT_BYTES = 128_000;

/** Checks optional texts that become arguments of a program. @throws TeamError INVALID_INPUT */
export function requireArguments(texts: Readonly<Record<string, string | undefined>>): void {
  requireTexts(texts);
  for (const [name, text] of Object.entries(texts))
    if (Buffer.byteLength(text ?? "") > MAX_ARGUMENT_BYTES)
      throw invalid(
        `${name} is longer than ${MAX_ARGUMENT_BYTES} bytes`,
        "Shorten the text, or put it into a file that the goal names.",
      );
}

function notAString(what: string): TeamError {
  return invalid(`${what} is not a string`, "Pass a string.");
}

function invalid(what: string, hint: string): TeamError {
  return new TeamError("INVALID_INPUT", `${what}; nothing was done.`, { hint });
}
