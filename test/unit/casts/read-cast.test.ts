import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { summarizeCast } from "../../../src/casts/read-cast.ts";
import { timelineOf } from "../../../src/casts/timeline.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

const HEADER = '{"version":2,"width":80,"height":24,"timestamp":1000,"title":"ada@crew"}';

function castOf(text: string, name = "ada.cast"): string {
  const path = join(temporaryDirectory(), name);
  writeFileSync(path, text);
  return path;
}

describe("summarizeCast", () => {
  it("returns the length and the markers, and reads up to the last complete line", () => {
    const path = castOf(`${HEADER}\n[0.5,"o","x"]\n[1,"m","lead: go\\u001b[31m"]\n[2.5,"o","y"]\n[9,"o","to`);
    expect(summarizeCast(path)).toMatchObject({
      header: { width: 80, height: 24, title: "ada@crew" },
      length: 2.5,
      markers: [{ time: 1, label: "lead: go" }],
      bad: 0,
    });
  });

  it("counts and names malformed lines", () => {
    const bad = ["nonsense", '["1","o","x"]', '[-1,"o","x"]', '[1,"o"]', '{"a":1}', "[1,2,3]"];
    const path = castOf(`${HEADER}\n[1,"o","x"]\n${bad.join("\n")}\n[2,"o","y"]\n`);
    expect(summarizeCast(path)).toMatchObject({ bad: 6, badLines: [3, 4, 5, 6, 7], length: 2 });
  });

  it.each([
    ["version 1", '{"version":1,"width":80,"height":24}'],
    ["version 3", '{"version":3,"term":{"cols":80,"rows":24}}'],
    ["no size", '{"version":2}'],
    ["a hostile size", '{"version":2,"width":1e9,"height":1}'],
    ["no header", '[1,"o","x"]'],
    ["another kind of file", "#!/bin/sh"],
  ])("refuses %s", (_, header) => {
    expect(() => summarizeCast(castOf(`${header}\n[1,"o","x"]\n`))).toThrow(/cannot be played/);
  });

  it("refuses a missing and an empty file", () => {
    expect(() => summarizeCast("/nowhere/x.cast")).toThrow(/does not exist/);
    expect(() => summarizeCast(castOf(""))).toThrow(/is empty/);
  });
});

describe("timelineOf", () => {
  it("joins recordings by their start times", () => {
    const second = castOf(
      '{"version":2,"width":100,"height":20,"timestamp":1060}\n[1,"m","b"]\n[2,"o","two"]\n',
    );
    const first = castOf(`${HEADER}\n[1,"m","a"]\n[2,"o","one"]\n`);
    const timeline = timelineOf([second, first].map(summarizeCast));
    expect(timeline.length).toBe(62);
    expect(timeline.size).toEqual({ columns: 100, rows: 24 });
    expect(timeline.markers).toEqual([
      { time: 1, label: "a" },
      { time: 60, label: "part 2" },
      { time: 61, label: "b" },
    ]);
    expect([...timeline.events()].map(({ time, code, data }) => [time, code, data])).toEqual([
      [1, "m", "a"],
      [2, "o", "one"],
      [60, "start", ""],
      [60, "m", "part 2"],
      [61, "m", "b"],
      [62, "o", "two"],
    ]);
  });

  it("never goes back in time", () => {
    const path = castOf(`${HEADER}\n[5,"o","x"]\n[1,"o","y"]\n[1e308,"o","z"]\n`);
    const times = [...timelineOf([summarizeCast(path)]).events()].map(({ time }) => time);
    expect(times).toEqual([5, 5, 1e308]);
  });
});
