import { describe, expect, it } from "vitest";
import { atMostTimes, countAtMost } from "../../../scripts/bench/figure.ts";
import { plot } from "../../../scripts/bench/plot.ts";
import { Samples } from "../../../scripts/bench/support/samples.ts";
import { format, section } from "../../../scripts/bench/table.ts";

describe("a benchmark figure", () => {
  it("has a median and percentiles", () => {
    const samples = new Samples([5, 1, 4, 2, 3]);
    expect([samples.median, samples.at(0.99), samples.at(0)]).toEqual([3, 5, 1]);
  });

  it.each([
    [0.0123, "ms", "12.3 µs"],
    [1.234, "ms", "1.23 ms"],
    [243.4, "ms", "243 ms"],
    [16_953, "bytes", "16,953 bytes"],
    [0, "", "0"],
  ] as const)("format writes %d %s as %s", (value, unit, text) => {
    expect(format(value, unit)).toBe(text);
  });

  it("is written in one line with its goal and its reference value", () => {
    const reference = { what: 'node -e ""', value: 40 };
    const text = section("Cold", [
      { what: "send", value: 60, unit: "ms", references: [reference], goal: atMostTimes(1.5, 60, reference) },
      { what: "forks", value: 1, unit: "", goal: countAtMost(0, 1, "none") },
    ]);
    expect(text).toMatch(/send +60\.0 ms +✓ ≤ 1\.5 × +1\.5 × node -e "" \(40\.0 ms\)/);
    expect(text).toMatch(/forks +1 +✗ none/);
  });
});

describe("plot", () => {
  it("draws the sizes at equal steps and labels each line with its last time", () => {
    const cost = (deliver: number) => ({ deliver, read: 0, mark: 0 });
    const times = { ours: [2, 2, 2].map(cost), usual: [1, 10, 100].map(cost), least: 1, leastRead: 0 };
    const svg = plot(["disk", "memory"].map((place) => ({ place, sizes: [0, 10, 100], ...times })));
    expect(svg.match(/<polyline class="ours"/g)).toHaveLength(2);
    const [, points = ""] = /<polyline class="usual" points="([^"]*)"/.exec(svg) ?? [];
    const [first, second, third] = points.split(" ").map((point) => point.split(",").map(Number));
    expect((second?.[0] ?? 0) - (first?.[0] ?? 0)).toBeCloseTo((third?.[0] ?? 0) - (second?.[0] ?? 0));
    // Coordinates are rounded to a tenth.
    expect((first?.[1] ?? 0) - (second?.[1] ?? 0)).toBeCloseTo((second?.[1] ?? 0) - (third?.[1] ?? 0), 0);
    expect(svg).toContain("read all, rewrite all: 100 ms");
  });
});
