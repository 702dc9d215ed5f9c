import { describe, expect, test } from "vitest";
import { type MarkdownOptions, markdownRows } from "../../../../src/text/markdown/rows.ts";
import { type Style, styler } from "../../../../src/text/style.ts";
import { growth, MAX_GROWTH } from "../../../support/timing/growth.ts";

/** Shows styles as tags. */
const TAGS = (style: Style, text: string): string => (style === undefined ? text : `<${style}>${text}</>`);

function plain(markdown: string, options: Partial<MarkdownOptions> = {}): string[] {
  return markdownRows(markdown, { width: 40, style: styler(true), ...options });
}

function styled(markdown: string, options: Partial<MarkdownOptions> = {}): string {
  return markdownRows(markdown, { width: 40, style: TAGS, ...options }).join("\n");
}

describe("text", () => {
  test("has styles for emphasis, code and headings", () => {
    expect(styled("**b** _i_ ~~s~~ `c` **_x_**")).toBe(
      "<bold>b</> <italic>i</> <strike>s</> <31>c</> <italic><bold>x</></>",
    );
    expect(styled("# One\n## Two\n### Three\n#### Four")).toBe(
      "<underline><bold>One</></>\n<bold>Two</>\n<italic><bold>Three</></>\n<italic>Four</>",
    );
  });

  test("wraps at spaces within and between styles, and breaks longer words", () => {
    expect(plain("aaaa **bb**cc `dddd eeee` ffffffffffff", { width: 10 })).toEqual([
      "aaaa bbcc",
      "dddd eeee",
      "ffffffffff",
      "ff",
    ]);
  });

  test("wraps Chinese and Japanese between characters, with punctuation at the end of a row", () => {
    expect(plain("中文没有空格，的长句子", { width: 13 })).toEqual(["中文没有空", "格，的长句子"]);
  });

  test("keeps short lines, and joins lines that their author wrapped", () => {
    expect(plain("name: ada\nrole: reviewer")).toEqual(["name: ada", "role: reviewer"]);
    const wrapped = "This line is as long as those of texts that were wrapped\nbefore.";
    expect(plain(wrapped, { width: 80 })).toEqual([wrapped.replace("\n", " ")]);
  });

  test("breaks at hard breaks and <br>, and shows other HTML as it is", () => {
    expect(plain("a  \nb\\\nc<br>d<br/>e <Vec<T>> &lt;&amp;")).toEqual(["a", "b", "c", "d", "e <Vec<T>> <&"]);
    expect(plain("<div>\n<!-- note -->\n</div>")).toEqual(["<div>", "<!-- note -->", "</div>"]);
  });

  test("has an empty row where the source has blank lines", () => {
    expect(plain("# a\nb\n\n\nc\n- d\n\n- e\n- f")).toEqual(["a", "b", "", "c", "• d", "", "• e", "• f"]);
    expect(plain("\na\n\n")).toEqual(["", "a"]);
  });
});

describe("lists and quotes", () => {
  test("are indented by their markers, with numbers and task boxes", () => {
    const list = "- one two\n  - [ ] open\n  - [x] done\n    1. one\n    1. two";
    expect(plain(list, { width: 14 })).toEqual([
      "• one two",
      "  ☐ open",
      "  ✓ done",
      "    1. one",
      "    2. two",
    ]);
    expect(plain("> a\n> > b\n>\n> - c")).toEqual(["│ a", "│ │ b", "│", "│ • c"]);
    expect(plain("> long quoted text", { width: 10 })).toEqual(["│ long", "│ quoted", "│ text"]);
  });

  test("are not indented further when no room is left", () => {
    const rows = plain(`${"> - ".repeat(7)}deep inside`, { width: 20 });
    expect(rows.join("").replace(/[│•◦ ]/g, "")).toBe("deepinside");
    expect(Math.max(...rows.map((row) => row.length))).toBeLessThanOrEqual(20);
  });
});

test("Markdown that is nested too deeply is shown as its source", () => {
  expect(plain(`${"> ".repeat(200)}deep`).join(" ")).toContain("deep");
  expect(
    plain(Array.from({ length: 90 }, (_, i) => `${" ".repeat(2 * i)}- a${i}`).join("\n")).join(""),
  ).toContain("a89");
});

describe("tables", () => {
  const table = "| Name | Count | Notes |\n|:--|--:|---|\n| a | 1 | some words here |\n| bb | 22 | x |";

  test("show a long header in full next to the first value, and cut it next to the other values", () => {
    const long =
      "| Name of the **customer** | B | C | D |\n|---|---|---|---|\n| Ann | 1 | 2 | 3 |\n| Bob | 1 | 2 | 3 |";
    expect(plain(long, { width: 13 })).toEqual([
      ...["• Name of", "    the", "    customer:", "    Ann", "  B: 1", "  C: 2", "  D: 3"],
      ...["• Name of…:", "    Bob", "  B: 1", "  C: 2", "  D: 3"],
    ]);
  });

  test("have aligned columns", () => {
    expect(plain(table)).toEqual([
      "Name │ Count │ Notes",
      "─────┼───────┼────────────────",
      "a    │     1 │ some words here",
      "bb   │    22 │ x",
    ]);
  });

  test("wrap their cells when they are too wide", () => {
    expect(plain(table, { width: 26 })).toEqual([
      "Name │ Count │ Notes",
      "─────┼───────┼────────────",
      "a    │     1 │ some words",
      "     │       │ here",
      "─────┼───────┼────────────",
      "bb   │    22 │ x",
    ]);
  });

  test("become lists when their columns do not fit", () => {
    expect(plain(table, { width: 18 })).toEqual([
      "• Name: a",
      "  Count: 1",
      "  Notes: some",
      "    words here",
      "• Name: bb",
      "  Count: 22",
      "  Notes: x",
    ]);
  });
});

describe("code", () => {
  test("is indented, coloured and complete", () => {
    expect(styled("```ts\nconst a = 'b<&'; // c\n```")).toBe(
      "  <134>const</> a = <64>'b<&'</>; <244>// c</>",
    );
    expect(styled("```diff\n-a\n+b\n```")).toBe("  <167>-a</>\n  <64>+b</>");
    expect(plain("```\n\tif (a) {\n\n0123456789\n```", { width: 10 })).toEqual([
      "      if (",
      "  a) {",
      "",
      "  01234567",
      "  89",
    ]);
  });

  test("has no colours in an unknown language, and when it would take too long", () => {
    expect(styled("```nope\nconst a\n```")).toBe("  const a");
    expect(styled(`\`\`\`js\nconst ${"a".repeat(300)}\n\`\`\``, { width: 400 })).toBe(
      `  const ${"a".repeat(300)}`,
    );
  });
});

describe("links", () => {
  test("show their address when the terminal does not support links", () => {
    expect(plain("[text](http://a.example) <http://b.example> http://c.example")).toEqual([
      "text (http://a.example) http://b.example",
      "http://c.example",
    ]);
    expect(plain("![shot](a.png) ![](b.png)")).toEqual(["shot (a.png) b.png"]);
  });

  test("are terminal links in each row when the terminal supports them", () => {
    const link = (address: string, text: string): string => `\x1b]8;;${address}\x1b\\${text}\x1b]8;;\x1b\\`;
    expect(plain("[one two](https://a.example/ü) x", { width: 6, links: true })).toEqual([
      link("https://a.example/%C3%BC", "one"),
      `${link("https://a.example/%C3%BC", "two")} x`,
    ]);
    expect(plain("see https://a.example/x_(y). Or", { links: true })).toEqual([
      `see ${link("https://a.example/x_(y)", "https://a.example/x_(y)")}. Or`,
    ]);
  });

  test("never disguise an address, and open no other kind of program", () => {
    const disguised = plain("[https://good.example](https://bad.example)", { links: true, width: 80 });
    expect(disguised[0]).toContain("(https://bad.example)");
    expect(plain("[a](javascript:alert) [b](docs/x.md)", { links: true })).toEqual([
      "a (javascript:alert) b (docs/x.md)",
    ]);
  });
});

test("ASCII signs replace all other signs", () => {
  const all = "- a\n  - b\n- [x] c\n\n> d\n\n***\n\n| e | f |\n|---|---|\n| g | h |";
  expect(plain(all, { ascii: true }).join("\n")).toMatch(/^[\n\x20-\x7e]+$/);
});

describe("hostile Markdown", () => {
  const cells = (text: string, count: number): string => `|${`${text}|`.repeat(count)}\n`;
  const rows =
    (text: string) =>
    (size: number): string =>
      text.repeat(Math.ceil(size / text.length));
  const growing = (size: number, line: (i: number) => string): string =>
    Array.from({ length: Math.sqrt(2 * size) }, (_, i) => line(i)).join("");
  test.each<[what: string, ofSize: (size: number) => string]>([
    ["quotes", rows(">")],
    ["quotes in lists", rows("> - ")],
    ["many nested quotes", rows(`${">".repeat(50)} a\n`)],
    ["lists in lists", (size) => growing(size, (i) => `${" ".repeat(i)}- a\n`)],
    ["stars", rows("*")],
    ["emphasis that never ends", rows("**x_")],
    ["emphasis in words", (size) => rows("a**b")(size) + rows("c* ")(size)],
    ["brackets", rows("[")],
    ["links that never end", rows("[a](")],
    ["links", rows("[a](b)")],
    ["images", rows("![[]()")],
    ["backticks", (size) => growing(size, (i) => `${"`".repeat(i)} `)],
    ["a wide table", (size) => ["a", "-", "a"].map((cell) => cells(cell, size / 20)).join("")],
    ["a long table", (size) => cells("a", 10) + cells("-", 10) + cells("some words", 10).repeat(size / 100)],
    ["addresses", rows("http://a.example/(")],
    ["an address with a long end", (size) => `https://x/${")".repeat(size)}`],
    ["escape sequences", rows("\x1b[")],
    ["combining marks", (size) => `a${"\u0301".repeat(size)}`],
    ["a word", rows("a")],
    ["Chinese", rows("中")],
    ["spaces before a sign", (size) => `-${" ".repeat(size)}x`],
    ["code", (size) => `\`\`\`shell\n${rows(`${"${".repeat(70)}\n`)(size)}`],
  ])("%s do not take quadratic time", (_, ofSize) => {
    const show = (markdown: string) => {
      for (const width of [20, 120]) plain(markdown, { width, links: true });
    };
    expect(growth(12_500, ofSize, show)).toBeLessThan(MAX_GROWTH);
  });
});
