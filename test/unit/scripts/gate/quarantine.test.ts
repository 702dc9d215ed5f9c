import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { quarantineFlaws, readQuarantine } from "../../../../scripts/gate/quarantine.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

const NOW = Date.parse("2026-11-28T12:00:00Z");

function entry(test: string, since = "2026-11-28") {
  return { test, reason: "a race in its set-up", since };
}

describe("readQuarantine", () => {
  const read = (content: unknown) => {
    const file = join(temporaryDirectory(), "quarantine.json");
    writeFileSync(file, JSON.stringify(content));
    return readQuarantine(file);
  };

  it("reads entries", () => {
    expect(read([entry("a > x")])).toEqual([entry("a > x")]);
  });

  it.each([
    ["no list", {}],
    ["no reason", [{ ...entry("a > x"), reason: "" }]],
    ["no day", [entry("a > x", "today")]],
    ["no such day", [entry("a > x", "2026-13-41")]],
  ])("refuses %s", (_, content) => {
    expect(() => read(content)).toThrow("must be a list of");
  });
});

describe("quarantineFlaws", () => {
  it("allows ten entries of at most fourteen days, whose tests ran", () => {
    const ten = Array.from({ length: 10 }, (_, i) => entry(`a > ${i}`, "2026-11-14"));
    expect(quarantineFlaws(ten, new Set(ten.map(({ test }) => test)), NOW)).toEqual([]);
  });

  it("reports too many entries, an old entry and an unknown test", () => {
    const eleven = Array.from({ length: 11 }, (_, i) => entry(`a > ${i}`));
    expect(quarantineFlaws(eleven, undefined, NOW)).toEqual([
      "quarantine: it has 11 entries, at most 10 are allowed",
    ]);
    expect(quarantineFlaws([entry("a > x", "2026-11-13")], new Set(["a > y"]), NOW)).toEqual([
      "quarantine: an entry is 15 days old, at most 14 are allowed: a > x",
      "quarantine: no test has this name: a > x",
    ]);
  });

  it("reports an entry with a future date", () => {
    expect(quarantineFlaws([entry("a > x", "2026-12-01")], undefined, NOW)).toEqual([
      "quarantine: the date of an entry is in the future (2026-12-01): a > x",
    ]);
  });
});
