import { expect, test } from "vitest";
import { parseComments } from "../../../../src/operations/landing/review-comments.ts";

test("parseComments › reads paths, lines, ranges and continuation lines; ignores blank lines and columns", () => {
  const text = [
    "src/a.ts:3: use const",
    "",
    "src/b c.ts:4-6: split this",
    "  into two functions",
    "\tand test them",
    "src/a.ts:7:12: warning: unused",
    "src/a.ts:8:tight",
  ].join("\r\n");
  expect(parseComments(text, "review.txt")).toEqual([
    { path: "src/a.ts", line: 3, text: "use const", at: "line 1" },
    {
      path: "src/b c.ts",
      line: 4,
      lastLine: 6,
      text: "split this\ninto two functions\nand test them",
      at: "line 3",
    },
    { path: "src/a.ts", line: 7, text: "warning: unused", at: "line 6" },
    { path: "src/a.ts", line: 8, text: "tight", at: "line 7" },
  ]);
});

test("parseComments › reads a path that begins with a bracket", () => {
  const path = "[id]/page.tsx";
  const text = "use the cache here";
  expect(parseComments(`${path}:3: ${text}`, "f")).toEqual([{ path, line: 3, text, at: "line 1" }]);
});

test("parseComments › reads JSON: a list, or an object with a list of comments", () => {
  const comments = [
    { path: "a:b.ts", line: 1, text: " why? " },
    { path: "b.ts", line: 2, lastLine: 3, text: "x" },
  ];
  const parsed = [
    { path: "a:b.ts", line: 1, text: "why?", at: "entry 1" },
    { path: "b.ts", line: 2, lastLine: 3, text: "x", at: "entry 2" },
  ];
  expect(parseComments(JSON.stringify(comments), "f")).toEqual(parsed);
  expect(parseComments(JSON.stringify({ comments }, null, 2), "f")).toEqual(parsed);
});

test.for([
  ["src/a.ts 3: no colon", "line 1"],
  ["a.ts:1: fine\na.ts:0: no such line", "line 2"],
  ["a.ts:1: fine\n\nwords", "line 3"],
  ["a.ts:5-4: backwards", "line 1"],
  ["a.ts:5:", "line 1"],
  ["  a.ts:5: indented, continues nothing", "line 1"],
  ['[{"path": "a.ts", "line": 1, "text": "fine"}, {"path": "a.ts", "line": "1", "text": "x"}]', "entry 2"],
  ['[{"path": "", "line": 1, "text": "x"}, 3]', "entry 1"],
] as const)("parseComments › names the place of a comment that it cannot read: %s", ([text, place]) => {
  expect(() => parseComments(text, "review.txt")).toThrow(
    expect.objectContaining({
      code: "INVALID_INPUT",
      message: expect.stringMatching(new RegExp(`Nothing was sent.* review\\.txt .*\\n${place}`)),
    }),
  );
});

test.for([
  ["", "no comment"],
  ["[]", "no comment"],
  ["{}", "no list"],
  ["[{", "not valid JSON"],
] as const)("parseComments › refuses a file without comments: %s", ([text, reason]) => {
  expect(() => parseComments(text, "f")).toThrow(reason);
});
