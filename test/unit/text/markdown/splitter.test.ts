import { describe, expect, test } from "vitest";
import { blockSplitter } from "../../../../src/text/markdown/splitter.ts";
import { growth, MAX_GROWTH } from "../../../support/timing/growth.ts";

/** Returns the texts of the blocks after each line; a newline precedes a block with an empty row above it. */
function afterLines(text: string): string[][] {
  const splitter = blockSplitter();
  const blocks = text.split("\n").map((line) => splitter.push(`${line}\n`));
  return [...blocks, splitter.end()].map((some) =>
    some.map((block) => (block.isApart ? "\n" : "") + block.text),
  );
}

describe("blockSplitter", () => {
  test("returns a paragraph at its blank line, a heading and closed code at once", () => {
    expect(afterLines("a\nb\n\n# c\n```\nd\n\ne\n```\nf")).toEqual([
      [],
      [],
      ["a\nb\n"],
      ["\n# c\n"],
      [],
      [],
      [],
      [],
      ["```\nd\n\ne\n```\n"],
      [],
      ["f\n"],
    ]);
  });

  test("returns a list's item when the next item begins, with its number", () => {
    const splitter = blockSplitter();
    expect(splitter.push("1. a\n   - b\n1. c\n")).toEqual([{ text: "1. a\n   - b\n", isApart: false }]);
    expect(splitter.rest()).toEqual({ text: "1. c\n", number: 2, isApart: false });
    expect(splitter.push("\n1. d\n")).toEqual([{ text: "1. c\n", number: 2, isApart: false }]);
    expect(splitter.end()).toEqual([{ text: "1. d\n", number: 3, isApart: true }]);
  });

  test("returns long code in parts, which end before an empty line if possible", () => {
    const splitter = blockSplitter();
    const lines = (count: number): string => "x\n".repeat(count);
    expect(splitter.push(`\`\`\`js\n${lines(19)}\n${lines(5)}`)).toEqual([]);
    expect(splitter.push("\n")).toEqual([{ text: `\`\`\`js\n${lines(19)}\n${lines(5)}`, isApart: false }]);
    expect(splitter.push(lines(39))).toEqual([]);
    expect(splitter.push(lines(1))).toEqual([{ continues: "```js", text: `\n${lines(39)}`, isApart: false }]);
    expect(splitter.push("```\n")).toEqual([{ continues: "```js", text: "x\n```\n", isApart: false }]);
    expect(splitter.rest()).toBeUndefined();
  });

  test("returns the unfinished line as part of the rest, and begins a new text after the end", () => {
    const splitter = blockSplitter();
    splitter.push("a\n\nb *c");
    expect(splitter.rest()).toEqual({ text: "b *c", isApart: true });
    expect(splitter.end()).toEqual([{ text: "b *c\n", isApart: true }]);
    expect(splitter.rest()).toBeUndefined();
    expect(splitter.push("\n\nd\n\n")).toEqual([{ text: "d\n", isApart: false }]);
  });

  test("keeps a marker without its text out of the rest", () => {
    const splitter = blockSplitter();
    splitter.push("a\n-");
    expect(splitter.rest()).toEqual({ text: "a\n", isApart: false });
    expect(splitter.push(" b")).toEqual([]);
    expect(splitter.rest()).toEqual({ text: "a\n- b", isApart: false });
    expect(splitter.push("\n1.")).toEqual([{ text: "a\n", isApart: false }]);
    expect(splitter.rest()).toEqual({ text: "- b\n", isApart: false });
  });

  test("removes escape sequences that are split between pieces", () => {
    const splitter = blockSplitter();
    expect(["a\x1b", "[2", "Jb\r", "\n\n"].flatMap((piece) => splitter.push(piece))).toEqual([
      { text: "ab\n", isApart: false },
    ]);
  });

  test("takes time proportional to the length of the text", () => {
    const lists = (size: number) =>
      Array.from({ length: 3 * size }, (_, i) => (i % 50 === 0 ? "\n- " : "ab "));
    const line = (size: number) => ["x".repeat(5 * size), ...Array.from({ length: size }, () => "yy")];
    const split = (pieces: readonly string[]) => {
      const splitter = blockSplitter();
      for (const piece of pieces) splitter.push(piece);
      splitter.end();
    };
    for (const text of [lists, line]) expect(growth(12_500, text, split)).toBeLessThan(MAX_GROWTH);
  });
});
