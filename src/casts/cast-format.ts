import { TeamError } from "../errors.ts";

/** The first line of an asciicast v2 file (https://docs.asciinema.org/manual/asciicast/v2/). */
export interface CastHeader {
  readonly version: 2;
  readonly width: number;
  readonly height: number;
  /** Seconds since the epoch. */
  readonly timestamp?: number;
  readonly title?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Output, a resize (`80x24`), a marker (its label); input and codes of later versions are read but ignored. */
export type CastCode = "o" | "r" | "m";

/** A line after the header. */
export interface CastEvent {
  /** Seconds since the start of the recording. */
  readonly time: number;
  readonly code: string;
  readonly data: string;
}

/** Maximum columns or rows: no terminal has more, and a hostile header must not make a player allocate without limit. */
const MAX_CELLS = 10_000;

export function headerLine(header: CastHeader): string {
  return JSON.stringify(header);
}

/** @param seconds since the start of the recording */
export function eventLine(seconds: number, code: CastCode, data: string): string {
  return JSON.stringify([Number(seconds.toFixed(6)), code, data]);
}

/** Parses the first line. @throws TeamError CORRUPT_FILE if it is not a header of version 2 */
export function parseHeader(line: string, path: string): CastHeader {
  const value = parsed(line);
  const { version, width, height, timestamp, title, env } = (value ?? {}) as Record<string, unknown>;
  if (version !== 2 || !isCells(width) || !isCells(height)) {
    const found =
      version === undefined || version === 2 ? "its first line is not a header" : `its version is ${version}`;
    throw new TeamError("CORRUPT_FILE", `${path} cannot be played: ${found}.`, {
      hint: "Name a recording in asciicast v2 format, or list the team's recordings: teams replay --json",
    });
  }
  return {
    version,
    width,
    height,
    ...(isTime(timestamp) ? { timestamp } : {}),
    ...(typeof title === "string" ? { title } : {}),
    ...(isTexts(env) ? { env } : {}),
  };
}

/** Parses a line after the header; undefined if it is malformed. */
export function parseEvent(line: string): CastEvent | undefined {
  const value = parsed(line);
  if (!Array.isArray(value)) return undefined;
  const [time, code, data] = value as readonly unknown[];
  if (!isTime(time) || typeof code !== "string" || typeof data !== "string") return undefined;
  return { time, code, data };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // Malformed lines are counted by the caller.
    return undefined;
  }
}

function isCells(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) <= MAX_CELLS;
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function isTexts(value: unknown): value is Record<string, string> {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every((one) => typeof one === "string")
  );
}
