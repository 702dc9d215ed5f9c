import { TeamError } from "../errors.ts";
import { ownSecrets, REDACTED, redactText } from "../os/redact.ts";
import type { Io } from "../terminal/io.ts";
import type { Output } from "../terminal/output.ts";

/**
 * A text operand: its words joined by a space, or what stands on stdin for a lone `-`.
 * @throws TeamError INVALID_INPUT for an empty one
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
    hint: `Write it after the command, or give - and the ${what} on stdin.`,
  });
}

/** Says that a text is not written as it was given: whoever gave it may think that its reader has the secret now. */
export function noteMasked(text: string, { note }: Pick<Output, "note">): void {
  if (redactText(text, ownSecrets()) === text) return;
  note(`A secret of your environment in it was written as ${REDACTED}; no file of ours holds one.`);
}

/** As {@link textArgument} for the value of an option; undefined where it was not given. */
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

/** The most that a timer of Node's can hold, in seconds. */
const MAX_SECONDS = 2_147_483;

/** A duration in seconds, as milliseconds. @throws TeamError INVALID_INPUT */
export function secondsOption(value: string | undefined, option: string): number | undefined {
  if (value === undefined) return undefined;
  const seconds = /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
  if (seconds <= MAX_SECONDS) return Math.round(seconds * 1000);
  throw new TeamError("INVALID_INPUT", `--${option} cannot be ${JSON.stringify(value)}.`, {
    hint: `It is a number of seconds, up to ${MAX_SECONDS}: --${option} 30`,
  });
}

/** A whole number above zero. @throws TeamError INVALID_INPUT */
export function countOption(value: string | undefined, option: string): number | undefined {
  if (value === undefined) return undefined;
  if (/^[1-9]\d{0,6}$/.test(value)) return Number(value);
  throw new TeamError("INVALID_INPUT", `${option} cannot be ${JSON.stringify(value)}.`, {
    hint: `It is a whole number above zero: ${option} 50`,
  });
}

/** An amount above zero. @throws TeamError INVALID_INPUT */
export function amountOption(
  value: string | undefined,
  option: string,
  kind: "whole" | "any" = "any",
): number | undefined {
  if (value === undefined) return undefined;
  const isAmount = kind === "whole" ? /^\d{1,15}$/.test(value) : /^\d{1,9}(\.\d{1,9})?$/.test(value);
  if (isAmount && Number(value) > 0) return Number(value);
  throw new TeamError("INVALID_INPUT", `${option} cannot be ${JSON.stringify(value)}.`, {
    hint:
      kind === "whole"
        ? `It is a whole number above zero: ${option} 500000`
        : `It is an amount above zero: ${option} 2.50`,
  });
}

/** A list given as often as one likes, or with commas: `--blocked-by 1,2 --blocked-by 3`. */
export function listOption(values: readonly string[]): string[] {
  return values
    .flatMap((value) => value.split(","))
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/**
 * A moment: an ISO date or time, or so many seconds ago.
 * @throws TeamError INVALID_INPUT
 */
export function momentOption(value: string | undefined, option: string, now: number): number | undefined {
  if (value === undefined) return undefined;
  const at = /^\d+(\.\d+)?$/.test(value) ? now - Number(value) * 1000 : Date.parse(value);
  if (Number.isFinite(at)) return at;
  throw new TeamError("INVALID_INPUT", `--${option} cannot be ${JSON.stringify(value)}.`, {
    hint: `It is a time (2025-01-31T12:00) or a number of seconds ago (--${option} 600).`,
  });
}

/** A task's number as somebody types it: `3` or `#3`. @throws TeamError INVALID_INPUT */
export function parseTaskId(word: string): string {
  const id = word.replace(/^#/, "");
  if (/^[1-9]\d{0,14}$/.test(id)) return id;
  throw new TeamError("INVALID_INPUT", `${JSON.stringify(word)} is not a task's number.`, {
    hint: "It is what `teams task list` shows in front: 3 or #3.",
  });
}

/** `1 task`, `12 tasks`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** A file's size as people say it: `812 bytes`, `34 kB`, `1.2 MB`. */
export function byteCount(bytes: number): string {
  if (bytes < 1000) return counted(bytes, "byte");
  const [unit, size] = bytes < 999_500 ? ["kB", bytes / 1e3] : ["MB", bytes / 1e6];
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${unit}`;
}
