import { readFileSync } from "node:fs";
import { expect } from "vitest";

export type CheckedEvent = readonly [time: number, code: string, data: string];

export interface CheckedCast {
  readonly header: Readonly<Record<string, unknown>>;
  readonly events: readonly CheckedEvent[];
  /** All output. */
  readonly output: string;
  readonly markers: readonly string[];
}

/** Reads a recording, and checks every rule of asciicast v2 (https://docs.asciinema.org/manual/asciicast/v2/). */
export function checkCast(path: string): CheckedCast {
  const text = new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  expect(text.endsWith("\n")).toBe(true);
  const [first = "", ...rest] = text.trimEnd().split("\n");
  const header = JSON.parse(first) as Record<string, unknown>;
  expect(header).toMatchObject({ version: 2, width: expect.any(Number), height: expect.any(Number) });
  for (const name of ["width", "height", "timestamp"]) expect(Number.isInteger(header[name])).toBe(true);
  const known = [
    "version",
    "width",
    "height",
    "timestamp",
    "duration",
    "idle_time_limit",
    "command",
    "title",
    "env",
    "theme",
  ];
  expect(Object.keys(header).filter((name) => !known.includes(name))).toEqual([]);
  for (const value of Object.values(header.env ?? {})) expect(typeof value).toBe("string");
  const events = rest.map((line) => JSON.parse(line) as CheckedEvent);
  let last = 0;
  for (const event of events) {
    expect(event).toHaveLength(3);
    const [time, code, data] = event;
    expect(time).toBeGreaterThanOrEqual(last);
    last = time;
    expect(["o", "r", "m"]).toContain(code);
    expect(typeof data).toBe("string");
    if (code === "r") expect(data).toMatch(/^[1-9]\d*x[1-9]\d*$/);
    if (code === "m") expect(data).toMatch(/^[^\x00-\x1f\x7f-\x9f]*$/);
  }
  return {
    header,
    events,
    output: events.flatMap(([, code, data]) => (code === "o" ? [data] : [])).join(""),
    markers: events.flatMap(([, code, data]) => (code === "m" ? [data] : [])),
  };
}
