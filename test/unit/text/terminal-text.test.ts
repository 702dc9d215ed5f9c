import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cells, cutToWidth, displayWidth } from "../../../src/text/cell-width.ts";
import { controlStripper, gridText, printableJson, stripControls } from "../../../src/text/terminal-text.ts";

const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;

describe("stripControls", () => {
  test.each([
    ["colours", "a\x1b[1;31mb\x1b[0mc", "abc"],
    ["a window title with either terminator", "a\x1b]0;evil\x07b\x1b]2;evil\x1b\\c", "abc"],
    ["cursor movement and clearing", "a\x1b[2J\x1b[10;10Hb", "ab"],
    ["eight-bit introducers", "a\x9b31mb\x9d0;evil\x9cc", "abc"],
    ["device control strings", "a\x1bPq#0\x1b\\b", "ab"],
    ["two-character sequences", "a\x1bcb\x1b(0c\x1b7d", "abcd"],
    ["backspace, bell and null", "a\x08b\x07c\x00d", "abcd"],
    ["marks that change the writing direction", "a\u202eb\u2066c", "abc"],
  ])("removes %s", (_what, text, shown) => {
    expect(stripControls(text)).toBe(shown);
  });

  test("keeps newlines and tabs, and turns a carriage return into a newline", () => {
    expect(stripControls("a\tb\r\nc\rd\n")).toBe("a\tb\nc\nd\n");
  });

  test("removes a limited part of an unterminated control string, and never the next line", () => {
    expect(stripControls("a\x1b]0;title\nnext")).toBe("a\nnext");
    expect(stripControls(`a\x1b]${"x".repeat(5000)}`).length).toBeGreaterThan(4000);
  });

  test("keeps a letter of another script that ends an unfinished sequence", () => {
    expect(stripControls("\x1b[3é")).toBe("é");
  });

  test("gives the same result for a stream that is cut anywhere as for the whole text", () => {
    const text = "one\x1b[31mtwo\x1b]0;t\x1b\\three\r\nfour\x9b1mfive";
    for (let at = 0; at <= text.length; at += 1) {
      const stripper = controlStripper();
      expect(stripper.push(text.slice(0, at)) + stripper.push(text.slice(at))).toBe(stripControls(text));
    }
  });

  test("leaves no control character in any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(stripControls(text)).not.toMatch(CONTROL);
        expect(gridText(text)).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
        // A sequence before it has no influence, although the stripper then checks each character.
        expect(stripControls(`\x1b[m${text}`)).toBe(stripControls(text));
      }),
    );
  });
});

describe("printableJson", () => {
  test("has no lone surrogate, and keeps a text that looks like an escaped surrogate", () => {
    const value = { "k\ud83d": ["\ude00\ud83d", "🚀", "\\ud83d", "\\\ud83d\\"] };
    const json = printableJson(value);
    expect(JSON.parse(json)).toEqual({ "k\ufffd": ["\ufffd\ufffd", "🚀", "\\ud83d", "\\\ufffd\\"] });
    expect(JSON.parse(printableJson({ text: "\u009b31m\u202e" }))).toEqual({ text: "\u009b31m\u202e" });
  });

  test("replaces lone surrogates, and changes nothing else in any text", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("\\", "u", "d83d", "\ud83d", "\ude00", '"', "a") }),
        (text) => {
          expect(JSON.parse(printableJson([text]))).toEqual([text.toWellFormed()]);
        },
      ),
    );
  });
});

describe("gridText and the width of cells", () => {
  test("gridText returns one line with single spaces", () => {
    expect(gridText("  a\n\n b\tc ")).toBe("a b c");
  });

  test("gridText uses the emoji forms that all versions of tmux measure alike", () => {
    expect(gridText("❤️ 👍🏽 👩‍🚀 🇩🇪 1️⃣")).toBe("❤ 👍 👩🚀 DE 1");
  });

  test("gridText leaves out soft hyphens, which tmux may show as a cell", () => {
    expect(gridText("Donau\u00addampf")).toBe("Donaudampf");
  });

  test.each([
    ["plain", 5],
    ["檢查員", 6],
    ["한글", 4],
    ["한글", 4],
    ["e\u0301tude", 5],
    ["🎉!", 3],
    ["…→●▌━", 5],
    ["ｗｉｄｅ", 8],
  ])("displayWidth: %s takes %i cells", (text, width) => {
    expect(displayWidth(gridText(text))).toBe(width);
  });

  test("displayWidth › measures each half of a flag as an emoji", () => {
    expect(displayWidth("🇩🇪")).toBe(4);
    expect(displayWidth("🇩")).toBe(2);
  });

  test("cells keeps at most three marks on one character", () => {
    expect(cells(`a${"\u0301".repeat(50)}b`).map(({ char }) => char.length)).toEqual([4, 1]);
  });

  test("cutToWidth cuts between characters and appends an ellipsis", () => {
    expect(cutToWidth("abcdef", 4)).toBe("abc…");
    expect(cutToWidth("檢查員", 4)).toBe("檢…");
    expect(cutToWidth("ab", 2)).toBe("ab");
    expect(cutToWidth("ab", 0)).toBe("");
  });

  test("cutToWidth never exceeds the width", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.nat(30), (text, width) => {
        expect(displayWidth(cutToWidth(gridText(text), width))).toBeLessThanOrEqual(width);
      }),
    );
  });
});
