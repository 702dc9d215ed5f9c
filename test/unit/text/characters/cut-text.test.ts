import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  characterCount,
  cutText,
  shortened,
  shortenedStart,
  textEnd,
  textStart,
} from "../../../../src/text/characters/cut-text.ts";
import { graphemes } from "../../../../src/text/characters/graphemes.ts";

const FAMILY = "👨‍👩‍👧";
const FLAGS = "🇩🇪🇫🇷";
const ACCENT = "e\u0301";

/** Texts of characters in one, two and many units. */
const texts = fc
  .array(fc.constantFrom("a", " ", "\r\n", "ß", "漢", "😀", FAMILY, "🇩🇪", ACCENT, "각", "👍🏽"), {
    maxLength: 300,
  })
  .map((parts) => parts.join(""));

describe("textStart", () => {
  test.each([
    ["a text that fits", "abc", 3, "abc"],
    ["ASCII", "abcd", 3, "abc"],
    ["an emoji", "ab😀c", 3, "ab"],
    ["an emoji of several code points", `ab${FAMILY}`, 8, "ab"],
    ["a letter with an accent", `ab${ACCENT}`, 3, "ab"],
    ["a line end of two units", "a\r\nb", 2, "a"],
    ["the second of two flags", FLAGS, 6, "🇩🇪"],
    ["nothing if there is no room", "😀", 0, ""],
    ["nothing for a negative limit", "abc", -1, ""],
    ["a first character that does not fit between its code points", FAMILY, 4, "👨‍"],
    ["a first code point that does not fit", "😀", 1, ""],
  ])("keeps %s", (_, text, max, start) => {
    expect(textStart(text, max)).toBe(start);
  });

  test("cuts a character with thousands of marks between its code points", () => {
    const text = `a${"\u0301".repeat(5_000)}`;
    expect(textStart(text, 3_000)).toHaveLength(3_000);
    expect(textEnd(text, 3_000)).toHaveLength(3_000);
  });
});

test("textEnd › keeps whole characters at the end", () => {
  expect(["ab😀c", `${FAMILY}ab`, `${ACCENT}b`, FLAGS].map((text) => textEnd(text, 2))).toEqual([
    "c",
    "ab",
    "b",
    "",
  ]);
});

test("textStart and textEnd › keep as many whole characters as fit", () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 0, max: 400 }), (text, max) => {
      const parts = graphemes(text);
      let start = "";
      for (const part of parts) {
        if (start.length + part.length > max) break;
        start += part;
      }
      let end = "";
      for (const part of parts.toReversed()) {
        if (end.length + part.length > max) break;
        end = part + end;
      }
      // A first character that does not fit is cut between its code points.
      if (start !== "") expect(textStart(text, max)).toBe(start);
      expect(textEnd(text, max)).toBe(end);
    }),
  );
});

test("textStart and textEnd › never end in half a code point, whatever the text is", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", maxLength: 600 }),
      fc.integer({ min: 0, max: 600 }),
      (text, max) => {
        const [start, end] = [textStart(text, max), textEnd(text, max)];
        expect([text.startsWith(start), text.endsWith(end)]).toEqual([true, true]);
        expect(Math.max(start.length, end.length)).toBeLessThanOrEqual(max);
        expect([start.isWellFormed(), end.isWellFormed()]).toEqual([true, true]);
      },
    ),
  );
});

describe("cutText", () => {
  test("says how many characters are missing", () => {
    expect(cutText("abc", 3)).toBe("abc");
    expect(cutText("abcd", 3)).toBe("abc… (1 more character)");
    expect(cutText("ab😀😀c", 3)).toBe("ab… (3 more characters)");
    expect(cutText("abcd", 1, (missing) => ` [${missing}]`)).toBe("a [3 more characters]");
  });
});

test("shortened and shortenedStart › put … at the cut, within the limit", () => {
  expect([shortened("abc", 3), shortened("abcd", 3), shortened("a😀bc", 3)]).toEqual(["abc", "ab…", "a…"]);
  expect([shortenedStart("abc", 3), shortenedStart("abcd", 3), shortenedStart("ab😀c", 3)]).toEqual([
    "abc",
    "…cd",
    "…c",
  ]);
});

test("characterCount › counts a surrogate pair as one character, and a lone surrogate too", () => {
  expect([characterCount("a😀b"), characterCount("a😀b", 3), characterCount("\ud83d\ud83d\ude00")]).toEqual([
    3, 1, 2,
  ]);
});
