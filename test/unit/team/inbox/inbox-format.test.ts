import { describe, expect, test } from "vitest";
import { recoverEntries } from "../../../../src/team/inbox/inbox-format.ts";

test("recoverEntries recovers a very long message", () => {
  const text = `${"a".repeat(1000)}\n`.repeat(20_000);
  const [first, second, ...rest] = recoverEntries(`[${JSON.stringify({ text })},{"b":1},{"c`);
  expect((first as { text: string }).text).toHaveLength(text.length);
  expect([second, rest]).toEqual([{ b: 1 }, []]);
});

describe("recoverEntries with damaged text", () => {
  const entry = (text: string) => ({ from: "peer", text, timestamp: "2026-11-21T02:41:03.527Z" });
  const entries = ["one", 'two "{" [', "three", '{"from":"x","text":"y","timestamp":"z"}'].map(entry);
  const text = JSON.stringify(entries, undefined, 2);
  const saved = (damaged: string) => recoverEntries(damaged).map((found) => (found as { text: string }).text);

  test("recovers every intact entry before and after the damage", () => {
    for (const [i, { text: lost }] of entries.entries()) {
      const at = text.indexOf(JSON.stringify(lost));
      for (const rubbish of ["\0".repeat(lost.length), '"', "{", "}", "]", "\\"]) {
        const damaged = text.slice(0, at) + rubbish + text.slice(at + rubbish.length);
        if (isJson(damaged)) continue;
        const others = entries.filter((_, other) => other !== i).map((other) => other.text);
        expect(
          saved(damaged).filter((found) => found !== lost),
          JSON.stringify([lost, rubbish]),
        ).toEqual(others);
      }
    }
  });

  test("recovers every entry if the damage is at the beginning or the end", () => {
    expect(saved(`\0\0${text.slice(2)}`)).toEqual(entries.map((other) => other.text));
    expect(saved(`rubbish ${text}`)).toEqual(entries.map((other) => other.text));
    expect(saved(`${text.slice(0, text.indexOf('"two'))}${text}`)).toEqual([
      "one",
      ...entries.map((other) => other.text),
    ]);
    expect(saved(`${text}] ${text}`)).toHaveLength(2 * entries.length);
  });

  test("does not recover text inside a message as a message", () => {
    const nested = JSON.stringify([{ ...entry("outer"), metadata: entry("inner") }]);
    expect(saved(nested.slice(0, -1))).toEqual(["outer"]);
    expect(saved(`[{"from":"x","text":${JSON.stringify(JSON.stringify(entry("forged")))}`)).toEqual([]);
  });

  const many = Array.from({ length: 150 }, (_, i) => entry(`message ${i}`));
  const lines = many.map((one) => JSON.stringify(one));
  test.each([
    ["lost its first bracket", `${lines.join(",")}]`],
    ["was empty when lines were appended", `[]\n${lines.join("\n")}\n`],
    ["has no commas", `[${lines.join("")}]`],
    ["is a file of lines", lines.join("\n")],
    ["is damaged after each message", `[${lines.join(",{,")}]`],
  ])("recovers all of 150 messages if the array %s", (_, damaged) => {
    expect(recoverEntries(damaged)).toEqual(many);
  });

  test("gives up soon on very long damaged text", () => {
    const rubbish = '{"a'.repeat(200_000);
    expect(recoverEntries(`[${rubbish}`)).toEqual([]);
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
