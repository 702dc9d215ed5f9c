import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { displayWidth } from "../../../src/text/cell-width.ts";
import { markdownRows } from "../../../src/text/markdown/rows.ts";
import { blockSplitter, type MarkdownBlock } from "../../../src/text/markdown/splitter.ts";
import { styler } from "../../../src/text/style.ts";
import { stripControls } from "../../../src/text/terminal-text.ts";
import { cases } from "../../support/random/arbitraries.ts";

/** Line beginnings with a meaning in Markdown, and texts that may follow them. */
const BEGINNINGS = [
  ...[
    "",
    "",
    "",
    "",
    " ",
    "  ",
    "   ",
    "    ",
    "     ",
    "\t",
    "- ",
    "- ",
    "* ",
    "  - ",
    "   - ",
    "-\t",
    "-     ",
  ],
  ...["1. ", "2. ", "1) ", "7. ", "10. ", "- [ ] ", "> ", "> ", ">> ", "> - ", "# ", "#", "## "],
];
const TEXTS = [
  ...[
    "",
    "",
    "",
    "a",
    "some words",
    "```",
    "```ts",
    "~~~",
    "````",
    "---",
    "===",
    "-",
    "- - -",
    "***",
    "1.",
    "2. x",
  ],
  ...[
    "| a | b |",
    "|---|---|",
    "a | b",
    "- | -",
    "**bold",
    "`code`",
    "[link](x)",
    "![i](y)",
    "[a]: b",
    "<b>",
    "<!--",
  ],
  ...["- y", "# h", "> q", "\\", "long enough to be the line of an author who wraps lines", "中文"],
];
const LINES = fc
  .tuple(fc.constantFrom(...BEGINNINGS), fc.constantFrom(...TEXTS))
  .map(([beginning, text]) => beginning + text);
const CODE = fc
  .array(fc.constantFrom("", "", "x = 1", "  /* open", "close */", "`text`", "# y"), {
    minLength: 15,
    maxLength: 90,
  })
  .map((lines) => ["```js", ...lines, "```"].join("\n"));
const DOCUMENTS = fc
  .array(fc.oneof({ weight: 30, arbitrary: LINES }, { weight: 1, arbitrary: CODE }), {
    minLength: 1,
    maxLength: 14,
  })
  .map((lines) => lines.join("\n"));
const SIZES = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });

/** Text that moves a cursor, opens links or has an unusual width. */
const ODD = [
  ...[
    "\x1b[2J",
    "\x1b]0;title\x07",
    "\x1b]8;;http://evil\x1b\\",
    "\x9b1m",
    "\x07",
    "\x7f",
    "\r",
    "\t",
    "\u202e",
    "\u2028",
  ],
  ...[
    "&#27;[2J",
    "&#x9b;1m",
    "&#8238;",
    "&Tab;",
    "&NewLine;",
    "👩‍👩‍👧",
    "🇩🇪",
    "❤️",
    "検証",
    "e\u0301\u0301\u0301\u0301\u0301",
    "\ud800",
  ],
  ...[
    "[a](http://b\u001b]x)",
    "[a](<http://b c\u0007>)",
    "<https://é.example>",
    "[x](javascript:y)",
    "https://x.example/(é)",
  ],
  ...[
    "|",
    "|-|-|\n",
    "\n",
    "\n\n",
    "*",
    "**",
    "_",
    "~~",
    "`",
    "```\n",
    "<br>",
    "  \n",
    "- ",
    "> ",
    "1. ",
    "# ",
    "word ",
    " ",
  ],
  "averyveryveryverylongwordthatfitsintonorowatall",
];
const HOSTILE = fc.array(fc.constantFrom(...ODD), { maxLength: 40 }).map((parts) => parts.join(""));

/** The escape sequences that rows may contain: styles, and links to a few kinds of addresses. */
const OURS = /\x1b\[[\d;]+m|\x1b\]8;;(?:(?:https?|mailto|file):[\x21-\x7e]+)?\x1b\\/gi;
/** An emoji or a flag may be written in several ways; rows have one of them. */
const UNSAFE = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\u200d|\ufe0f/;

function split(text: string, sizes: readonly number[]): MarkdownBlock[] {
  const splitter = blockSplitter();
  const blocks: MarkdownBlock[] = [];
  for (let from = 0, i = 0; from < text.length; i += 1) {
    const size = sizes[i % sizes.length] ?? 1;
    blocks.push(...splitter.push(text.slice(from, from + size)));
    from += size;
  }
  return [...blocks, ...splitter.end()];
}

describe("blockSplitter", () => {
  test("returns blocks whose rows are the rows of the whole text", () => {
    const options = { width: 40, style: styler(false) };
    fc.assert(
      fc.property(DOCUMENTS, SIZES, (text, sizes) => {
        const whole = markdownRows(text.replace(/^(?:[ \t]*\n)+/, ""), options);
        expect(split(text, sizes).flatMap((block) => markdownRows(block, options))).toEqual(whole);
      }),
      cases(1000),
    );
  });

  test("returns the same blocks for every division into pieces, and loses no text", () => {
    fc.assert(
      fc.property(fc.oneof(DOCUMENTS, HOSTILE), SIZES, (text, sizes) => {
        const blocks = split(text, [text.length + 1]);
        expect(split(text, sizes)).toEqual(blocks);
        const words = (value: string): string => value.replace(/\s+/g, "");
        expect(words(blocks.map((block) => block.text).join(""))).toBe(words(stripControls(text)));
      }),
      cases(300),
    );
  });

  test("shows the block in progress as it looks when the text ends there", () => {
    const options = { width: 40, style: styler(true) };
    fc.assert(
      fc.property(DOCUMENTS, (text) => {
        const splitter = blockSplitter();
        const shown = splitter.push(`${text}\n`).flatMap((block) => markdownRows(block, options));
        const rest = splitter.rest();
        const preview = rest === undefined ? [] : markdownRows(rest, options);
        expect(shown.concat(preview).join("\n").trim()).toBe(markdownRows(text, options).join("\n").trim());
      }),
      cases(300),
    );
  });
});

describe("markdownRows", () => {
  const settings = fc.record({
    width: fc.integer({ min: 20, max: 200 }),
    links: fc.boolean(),
    ascii: fc.boolean(),
  });

  test("returns rows of at most the width, with no escape sequences but its own, for any text", () => {
    fc.assert(
      fc.property(fc.oneof(HOSTILE, DOCUMENTS), settings, (text, options) => {
        const styled = markdownRows(text, { ...options, style: styler(false) });
        const plain = styled.map((row) => row.replace(OURS, ""));
        for (const row of plain) {
          expect(UNSAFE.exec(row)).toBeNull();
          expect(displayWidth(row)).toBeLessThanOrEqual(options.width);
        }
        const unstyled = markdownRows(text, { ...options, style: styler(true) });
        expect(unstyled.map((row) => row.replace(OURS, ""))).toEqual(plain);
        expect(unstyled.join("")).not.toContain("\x1b[");
      }),
      cases(500),
    );
  });
});
