import { describe, expect, test } from "vitest";
import { lineEditor, type Typed } from "../../../src/terminal/line-editor.ts";

/** The text that the terminal shows, and the other results of the typed pieces. */
function type(...pieces: readonly string[]): { readonly shown: string; readonly rest: readonly Typed[] } {
  const editor = lineEditor();
  const typed = pieces.flatMap((piece) => [...editor.push(piece)]);
  return {
    shown: typed.map((one) => (one.kind === "echo" ? one.text : "")).join(""),
    rest: typed.filter(({ kind }) => kind !== "echo"),
  };
}

const line = (text: string): Typed => ({ kind: "line", line: text });
const ESCAPE: Typed = { kind: "escape" };

test("lineEditor reports shift-tab as a key, whole or in pieces, but not inside a paste", () => {
  const key: Typed = { kind: "shift-tab" };
  expect(type("a\u001b[Zb\r")).toEqual({ shown: "ab\n", rest: [key, line("ab")] });
  expect(type("\u001b", "[", "Z")).toEqual({ shown: "", rest: [key] });
  expect(type("\u001b[200~a\u001b[Z\u001b[201~\r").rest).toEqual([line("a")]);
});

describe("lineEditor: a line", () => {
  test("is echoed as typed and returned at Enter, whether typed or pasted", () => {
    expect(type("h", "i", "\r")).toEqual({ shown: "hi\n", rest: [line("hi")] });
    expect(type("one\rtwo\nthree")).toEqual({ shown: "one\ntwo\nthree", rest: [line("one"), line("two")] });
  });

  test.each([
    ["a letter", "abc\u007f\u007f\r", "a", "abc\b \b\b \b\n"],
    ["a wide letter", "a検\b\r", "a", "a検\b \b\b \b\n"],
    ["a letter of several code points", "a👩‍💻\u007f\r", "a", `a👩‍💻${"\b \b".repeat(4)}\n`],
    ["a word", "say no  \u0017\r", "say ", `say no  ${"\b \b".repeat(4)}\n`],
    ["everything", "abc\u0015x\r", "x", `abc${"\b \b".repeat(3)}x\n`],
    ["nothing in an empty line", "\u007f\u0015\u0017x\r", "x", "x\n"],
  ])("can have %s erased", (_, keys, left, shown) => {
    expect(type(keys)).toEqual({ shown, rest: [line(left)] });
  });

  test("ignores keys that would move the cursor, whole or in pieces", () => {
    const keys = "a\u001b[A\u001b[1;5C\u001bOP\u001b[3~\tb\u0001\r";
    expect(type(keys)).toEqual({ shown: "ab\n", rest: [line("ab")] });
    expect(type(...keys)).toEqual({ shown: "ab\n", rest: [line("ab")] });
  });

  test("contains a whole bracketed paste, in which no character is a key (S29)", () => {
    const pasted = "\u001b[200~one\rtwo\n\u0003three\u001b[201~";
    expect(type(pasted, "!\r")).toEqual({ shown: "one\ntwo\nthree!\n", rest: [line("one\ntwo\nthree!")] });
    expect(type(...pasted, "\r").rest).toEqual([line("one\ntwo\nthree")]);
  });

  test("has a maximum length, and reports when it is reached", () => {
    const { rest } = type("x".repeat(100_010), "y", "\r", "x".repeat(100_001));
    expect(rest).toEqual([{ kind: "full" }, line("x".repeat(100_000)), { kind: "full" }]);
  });
});

describe("lineEditor: the escape key", () => {
  test("is reported after a wait without another key, and keeps the line", () => {
    const editor = lineEditor();
    expect(editor.push("ab\u001b")).toEqual([{ kind: "echo", text: "ab" }]);
    expect(editor.isPending).toBe(true);
    expect(editor.settle()).toEqual([ESCAPE]);
    expect(editor.isPending).toBe(false);
    expect(editor.push("\r")).toContainEqual(line("ab"));
  });

  test("is reported before a key that forms no known sequence with it", () => {
    expect(type("\u001bx\r").rest).toEqual([ESCAPE, line("x")]);
    expect(type("a\u001b\r").rest).toEqual([ESCAPE, line("a")]);
    expect(type("\u001b\u001b[A\r").rest).toEqual([ESCAPE, line("")]);
  });

  test("is not reported if a key sequence arrives in two pieces", () => {
    expect(type("\u001b", "[A", "a\r").rest).toEqual([line("a")]);
  });

  test.each(["\u001b[", "\u001bO", "\u001b[1;"])(
    "is reported for the partial sequence %j if no input follows",
    (partial) => {
      const editor = lineEditor();
      expect(editor.push(partial)).toEqual([]);
      expect(editor.settle()).toEqual([ESCAPE]);
      expect(editor.push("x\r")).toContainEqual(line("x"));
    },
  );
});

test.each([
  ["a terminal's attributes", "\u001b[?1;2c"],
  ["a mouse click", "\u001b[<0;10;20M"],
  ["a key with all modifiers", "\u001b[27;5;97~"],
  ["a modifier of two digits", "\u001b[1;10A"],
  ["a window's size", "\u001b[8;24;80t"],
  ["a colour", "\u001b[38;5;208m"],
])("unknown sequence: %s adds no character, typed or pasted", (_, sequence) => {
  expect(type(`a${sequence}b\r`)).toEqual({ shown: "ab\n", rest: [line("ab")] });
  expect(type(`\u001b[200~a${sequence}b\u001b[201~\r`).rest).toEqual([line("ab")]);
});

test.each([
  ["\u0003", "SIGINT"],
  ["\u001c", "SIGQUIT"],
  ["\u001a", "SIGTSTP"],
] as const)("lineEditor: %j drops the line and gives the signal %s", (char, signal) => {
  expect(type(`abc${char}d\r`).rest).toEqual([{ kind: "signal", signal, dropped: true }, line("d")]);
});

test("lineEditor reports view keys in order, keeps the line, and ignores them inside a paste", () => {
  const keys = ["\u001b[1;2A", "\u001b[1;2B", "\u0014", "\u001b[5~", "\u001b[6~"];
  const viewKeys = ["up", "down", "tasks", "page-up", "page-down"].map((key) => ({ kind: "key", key }));
  expect(type("a", ...keys, "b\r")).toEqual({ shown: "ab\n", rest: [...viewKeys, line("ab")] });
  expect(type(`\u001b[200~x${keys.join("")}y\u001b[201~\r`).rest).toEqual([line("xy")]);
});

test("lineEditor can show and clear the typed text", () => {
  const editor = lineEditor();
  editor.push("ab");
  expect(editor.line).toBe("ab");
  expect(editor.clear()).toEqual([{ kind: "echo", text: "\b \b\b \b" }]);
  expect(editor.line).toBe("");
});
