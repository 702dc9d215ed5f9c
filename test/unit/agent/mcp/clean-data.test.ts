import { expect, it } from "vitest";
import { cleanData, cleanResult, dataText } from "../../../../src/agent/mcp/clean-result.ts";

it("cleanData › keeps short values, and strips control characters from texts and keys", () => {
  const data = { a: ["x\u001b[31mred\u001b[0m", { "k\u0007": "\u202ey" }], n: 1, b: true, z: null };
  expect(cleanData(data)).toEqual({ a: ["xred", { k: "y" }], n: 1, b: true, z: null });
});

it("cleanData › cuts the longest texts first, between whole characters", () => {
  const { one, short } = cleanData({ one: "😀".repeat(200_000), short: "s".repeat(300) });
  expect(short).toBe("s".repeat(300));
  expect(String(one)).toMatch(/^(😀)+… \[.* ask for less\]$/u);
});

it("cleanData › drops the end of the longest list, and reports how many items it dropped", () => {
  const list = Array.from({ length: 20_000 }, (_, at) => ({ id: at }));
  const data = cleanData({ list, few: [1, 2, 3] }) as {
    list: unknown[];
    few: number[];
    omitted: { list: number };
  };
  expect(dataText(data).length).toBeLessThan(150_100);
  expect([data.list[0], data.few, data.list.length + data.omitted.list]).toEqual([
    { id: 0 },
    [1, 2, 3],
    20_000,
  ]);
});

it("cleanData › cuts an object with many keys, and a deeply nested value", () => {
  const keys = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`key-${at}`, at]));
  const text = dataText(cleanData({ keys }));
  expect(text.length).toBeLessThan(150_100);
  expect(text).toContain('"…": "49800 more keys"');
  let deep: unknown = "end";
  for (let at = 0; at < 10_000; at += 1) deep = [deep];
  expect(JSON.stringify(cleanData({ deep }))).toContain("…");
});

it("cleanData › replaces a lone surrogate in a text", () => {
  expect(cleanData({ text: "a\ud83d" })).toEqual({ text: "a\ufffd" });
});

it("cleanResult › adds the notes of a person to a text, and to data", () => {
  const notes = ["Note with the permission: only \u001b[31monce\u001b[0m"];
  expect(cleanResult({ content: "done", notes })).toBe("done\n\nNote with the permission: only once");
  const data = { id: "7" };
  expect(cleanResult({ content: JSON.stringify(data), data, notes })).toBe(
    `${dataText(data)}\n\nNote with the permission: only once`,
  );
});
