import { describe, expect, test } from "vitest";
import type { History } from "../../../../src/terminal/input/history.ts";
import { ESCAPE_MS } from "../../../../src/terminal/input/key-decoder.ts";
import { ANSWER_MS, type LineEditor, lineEditor } from "../../../../src/terminal/input/line-editor.ts";
import type { Typed } from "../../../../src/terminal/input/typed.ts";

const AT = 1_000;
const ESCAPE: Typed = { kind: "escape" };
const LEFT = "\u001b[D";
const RIGHT = "\u001b[C";
const UP = "\u001b[A";
const DOWN = "\u001b[B";
const line = (text: string): Typed => ({ kind: "line", line: text, begun: AT });

/** Returns the results of typed pieces, except changes of the line. */
function type(...pieces: readonly string[]): readonly Typed[] {
  return press(lineEditor(), ...pieces);
}

function press(editor: LineEditor, ...pieces: readonly string[]): readonly Typed[] {
  return pieces.flatMap((piece) => editor.push(piece, AT)).filter(({ kind }) => kind !== "changed");
}

/** Returns the text of the line after these keys, with `|` at the cursor. */
function edited(keys: string, editor = lineEditor()): string {
  press(editor, keys);
  const { text, cursor } = editor.edited;
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
}

function historyOf(...entries: string[]): History {
  return { entries: () => [...entries], add: (entry) => void entries.push(entry) };
}

test("lineEditor › reports shift-tab as a key, whole or in pieces, but not inside a paste", () => {
  const key: Typed = { kind: "shift-tab" };
  expect(type("a\u001b[Zb\r")).toEqual([key, line("ab")]);
  expect(type("\u001b", "[", "Z")).toEqual([key]);
  expect(type("\u001b[200~a\u001b[Z\u001b[201~\r")).toEqual([line("a")]);
});

describe("lineEditor › a line", () => {
  test("is dated from its first character, even after it was erased", () => {
    const editor = lineEditor();
    const begun = (...pieces: readonly [string, number][]) =>
      pieces
        .flatMap(([piece, at]) => editor.push(piece, at))
        .flatMap((one) => (one.kind === "line" ? [one.begun] : []));
    expect(begun(["a", 1], ["b", 2], ["\r", 3])).toEqual([1]);
    expect(begun(["y\ry\r", 4])).toEqual([4, 4]);
    expect(begun(["a\u007f", 5], ["y", 6], ["\r", 7])).toEqual([6]);
  });

  test.each([
    ["a letter", "abc\u007f\u007f", "a|"],
    ["a wide letter", "a検\b", "a|"],
    ["a letter of several code points", "a👩‍💻\u007f", "a|"],
    ["a word", "say no  \u0017", "say |"],
    ["the spaces before the first word", `  a${LEFT}\u0017x`, "x|a"],
    ["everything before the cursor", `abc${LEFT}\u0015x`, "x|c"],
    ["everything after the cursor", `abc${LEFT}${LEFT}\u000b`, "a|"],
    ["the letter at the cursor", `abc${LEFT}${LEFT}\u001b[3~`, "a|c"],
    ["the letter at the cursor with Ctrl-D", `abc${LEFT}\u0004`, "ab|"],
    ["the next word", "one two\u0001\u001bd", "| two"],
    ["nothing in an empty line", "\u007f\u0015\u0017x", "x|"],
  ])("can have %s erased", (_, keys, shown) => {
    expect(edited(keys)).toBe(shown);
  });

  test.each([
    ["Ctrl-A and Ctrl-E", "bc\u0001a\u0005d", "abcd|"],
    ["Home and End", "bc\u001b[Ha\u001b[Fd\u001bOHx", "x|abcd"],
    ["left over a character of several code points", `a👩‍💻b${LEFT}${LEFT}x`, "ax|👩‍💻b"],
    ["right, not beyond the end", `ab${LEFT}${RIGHT}${RIGHT}c`, "abc|"],
    ["words", "one two three\u001bb\u001bbx\u001bfy", "one xtwoy| three"],
    ["words, to the start of the text", "  a\u001bb\u001bbx", "x|  a"],
    ["words with Alt and an arrow", "one two\u001b\u001b[Dx\u001b\u001bOC", "one xtwo|"],
    ["words with Ctrl and an arrow", "one two\u001b[1;5Dx\u001b[1;5C", "one xtwo|"],
  ])("can be edited after a move with %s", (_, keys, shown) => {
    expect(edited(keys)).toBe(shown);
  });

  test("gets the last erased text again with Ctrl-Y", () => {
    expect(edited("one two\u0017\u0001\u0019")).toBe("two|one ");
    expect(edited("one\u0015\u0019\u0019")).toBe("oneone|");
  });

  test.each([
    ["Alt-Enter", "one\u001b\rtwo"],
    ["a backslash before Enter", "one\\\rtwo"],
    ["a paste", "\u001b[200~one\rtwo\u001b[201~"],
  ])("has several lines after %s", (_, keys) => {
    expect(type(keys, "\r")).toEqual([line("one\ntwo")]);
  });

  test("lets the cursor move between its lines, keeping the column if it can", () => {
    expect(edited(`first\u001b\r2\u001b\rthird${UP}${UP}x`)).toBe("fx|irst\n2\nthird");
    expect(edited(`ab\u001b\rcd${UP}${DOWN}x`)).toBe("ab\ncdx|");
    expect(edited("ab\u001b\rcd\u0001\u0015")).toBe("ab|cd");
  });

  test("contains a whole bracketed paste, in which no character is a key (S29)", () => {
    const pasted = "\u001b[200~one\rtwo\n\u0003three\u001b[201~";
    expect(type(pasted, "!\r")).toEqual([line("one\ntwo\nthree!")]);
    expect(type(...pasted, "\r")).toEqual([line("one\ntwo\nthree")]);
  });

  test("keeps the tabs of a paste, and each of its line ends once", () => {
    const pasted = "\u001b[200~a\tb\r\nc\r\r\nd\r\u001b[201~";
    expect(type(pasted, "!\r")).toEqual([line("a\tb\nc\n\nd\n!")]);
    expect(type(...pasted, "!\r")).toEqual([line("a\tb\nc\n\nd\n!")]);
  });

  test("gets the lines of a paste in one piece", () => {
    const editor = lineEditor();
    const completed: string[] = [];
    editor.connect({
      complete(word) {
        completed.push(word);
        return [];
      },
    });
    press(editor, "\u001b[200~@one\n@two\n@three\u001b[201~");
    expect(completed).toEqual(["@three"]);
  });

  test("has a maximum length, and reports when it is reached", () => {
    expect(type("x".repeat(100_010), "y", "\r", "x".repeat(100_001))).toEqual([
      { kind: "full" },
      line("x".repeat(100_000)),
      { kind: "full" },
    ]);
  });

  test("keeps to its maximum length after Ctrl-Y", () => {
    expect(type("x".repeat(60_000), "\u0015\u0019\u0019", "\r")).toEqual([
      { kind: "full" },
      line("x".repeat(100_000)),
    ]);
  });

  test("ignores unknown keys, whole or in pieces", () => {
    const keys = "a\u001bOP\u001b[15~\u0007b\r";
    expect(type(keys)).toEqual([line("ab")]);
    expect(type(...keys)).toEqual([line("ab")]);
  });
});

describe("lineEditor › the history", () => {
  test("is shown with the arrow keys, and keeps the unfinished line", () => {
    const editor = lineEditor();
    editor.connect({ history: historyOf("one", "two") });
    expect(edited(`dra${UP}`, editor)).toBe("two|");
    expect(edited(`${UP}${UP}`, editor)).toBe("one|");
    expect(edited(`${DOWN}${DOWN}`, editor)).toBe("dra|");
    expect(press(editor, "\u0015three\r", UP, "\r")).toEqual([line("three"), line("three")]);
  });

  test("gets the lines of other panes, but not between two of its lines", () => {
    const editor = lineEditor();
    const history = historyOf("one", "two");
    editor.connect({ history });
    expect(edited(UP, editor)).toBe("two|");
    history.add("of another pane");
    expect(edited(UP, editor)).toBe("one|");
    expect(edited(`${DOWN}${DOWN}${UP}`, editor)).toBe("of another pane|");
  });

  test("lets Up and Down move within a recalled line once the cursor was moved", () => {
    const editor = lineEditor();
    editor.connect({ history: historyOf("one", "two\nthree") });
    expect(edited(`${UP}${LEFT}${UP}`, editor)).toBe("two|\nthree");
    expect(edited(`${DOWN}x`, editor)).toBe("two\nthrx|ee");
  });

  test("continues from the shown line after the cursor was moved in it", () => {
    const editor = lineEditor();
    editor.connect({ history: historyOf("one", "two", "three") });
    expect(edited(`draft${UP}${UP}${LEFT}${UP}`, editor)).toBe("one|");
    expect(edited(`${LEFT}${DOWN}${DOWN}${DOWN}`, editor)).toBe("draft|");
  });

  test("is searched by whole characters, and Enter sends the found line", () => {
    const editor = lineEditor();
    editor.connect({ history: historyOf("ask 👩‍💻", "end it \\") });
    expect(edited("\u0012k 👩‍💻", editor)).toBe("as|k 👩‍💻");
    press(editor, "\u007f");
    expect(editor.edited.search).toMatchObject({ query: "k ", isFound: true });
    expect(press(editor, "\u007f\u007fit \\\r")).toEqual([line("end it \\")]);
  });

  test("dates a line from the moment at which it was recalled", () => {
    const editor = lineEditor();
    editor.connect({ history: historyOf("yes") });
    expect(editor.push(`${UP}\r`, 7)).toContainEqual({ kind: "line", line: "yes", begun: 7 });
  });

  test("is searched with Ctrl-R, further back with each additional Ctrl-R; Esc keeps the found line", () => {
    const editor = lineEditor();
    editor.connect({ history: historyOf("fix the clock", "run tests", "read the clock") });
    expect(edited("\u0012clock", editor)).toBe("read the |clock");
    expect(editor.edited.search).toMatchObject({ query: "clock", isFound: true });
    expect(edited("\u0012", editor)).toBe("fix the |clock");
    expect(edited("s", editor)).toBe("fix the |clock");
    expect(editor.edited.search).toMatchObject({ query: "clocks", isFound: false });
    expect(edited("\u007f", editor)).toBe("read the |clock");
    expect(edited("\u0012", editor)).toBe("fix the |clock");
    editor.push("\u001b");
    expect(editor.settle()).toEqual([{ kind: "changed" }]);
    expect(editor.edited.search).toBeUndefined();
    expect(press(editor, "\r")).toEqual([line("fix the clock")]);
  });

  test("continues with Up and Down from the line that a search has found", () => {
    const editor = lineEditor();
    editor.connect({ history: historyOf("one", "fix the clock", "two", "three") });
    expect(edited(`dra\u0012clock${UP}`, editor)).toBe("one|");
    expect(edited(`${DOWN}${DOWN}`, editor)).toBe("two|");
    expect(edited(`${DOWN}${DOWN}`, editor)).toBe("dra|");
    // Nothing was found, so Up continues from the typed line.
    expect(edited(`\u0012none${UP}`, editor)).toBe("three|");
  });

  test("restores the typed line with Ctrl-G in a search; outside a search, Ctrl-G does nothing", () => {
    const editor = lineEditor();
    editor.connect({ history: historyOf("one", "two") });
    expect(edited(`draft${LEFT}\u0012one\u0007`, editor)).toBe("draf|t");
    expect(editor.edited.search).toBeUndefined();
    expect(edited(`\u0007${UP}`, editor)).toBe("two|");
    expect(edited(`\u0012one\u0007${UP}`, editor)).toBe("one|");
    expect(edited(`${DOWN}${DOWN}`, editor)).toBe("draft|");
  });
});

describe("lineEditor › a key that answers a question", () => {
  const ANSWER: Typed = { kind: "answer", char: "y" };
  const asking = (question: () => string | undefined = () => "perm-1"): LineEditor => {
    const editor = lineEditor();
    editor.connect({ answers: (char) => (char === "y" ? question() : undefined) });
    return editor;
  };
  const settled = (editor: LineEditor): readonly Typed[] =>
    editor.settle().filter(({ kind }) => kind !== "changed");

  test("answers alone in an empty line, if no key follows", () => {
    const editor = asking();
    expect(press(editor, "y")).toEqual([]);
    expect([editor.edited.text, editor.settleMs]).toEqual(["y", ANSWER_MS]);
    expect(settled(editor)).toEqual([ANSWER]);
    expect([editor.edited.text, editor.settleMs]).toEqual(["", undefined]);
  });

  test.each([
    ["in one piece", ["y\r"]],
    ["key by key", ["y", "\r"]],
  ])("answers at once with Enter, %s, and is not kept in the history", (_, pieces) => {
    const editor = asking();
    const history = historyOf();
    editor.connect({ history });
    expect(press(editor, ...pieces)).toEqual([ANSWER]);
    expect([editor.edited.text, history.entries()]).toEqual(["", []]);
  });

  test.each([
    ["in a begun line", ["a", "y"], "ay"],
    ["with other keys", ["ye"], "ye"],
    ["before other keys", ["y", "e", "s"], "yes"],
    ["twice", ["y", "y"], "yy"],
    ["pasted", ["\u001b[200~y\u001b[201~"], "y"],
  ])("is text if it comes %s", (_, pieces, text) => {
    const editor = asking();
    expect(press(editor, ...pieces)).toEqual([]);
    expect([editor.settleMs, settled(editor), editor.edited.text]).toEqual([undefined, [], text]);
  });

  test("answers if it is pressed again, after it came too early for the question", () => {
    let question: string | undefined;
    const editor = asking(() => question);
    press(editor, "y");
    question = "perm-1";
    expect(press(editor, "y")).toEqual([]);
    expect([editor.edited.text, editor.settleMs]).toEqual(["yy", ANSWER_MS]);
    expect(settled(editor)).toEqual([ANSWER]);
    expect(editor.edited.text).toBe("");
    question = undefined;
    press(editor, "y");
    question = "perm-2";
    expect(press(editor, "y", "e")).toEqual([]);
    expect([settled(editor), editor.edited.text]).toEqual([[], "yye"]);
  });

  test("is cancelled by Esc, which then interrupts nothing, and by an erasing key", () => {
    const editor = asking();
    press(editor, "y", "\u001b");
    expect([settled(editor), editor.edited.text, editor.settleMs]).toEqual([[], "", undefined]);
    press(editor, "y", "\u007f");
    expect([settled(editor), editor.edited.text]).toEqual([[], ""]);
  });

  test("stays text if its question was answered elsewhere meanwhile, even if another question is open", () => {
    let question: string | undefined = "perm-1";
    const editor = asking(() => question);
    press(editor, "y");
    question = "perm-2";
    expect([settled(editor), editor.edited.text]).toEqual([[], "y"]);
    question = undefined;
    expect(press(editor, "\r")).toEqual([line("y")]);
  });
});

describe("lineEditor › the escape key", () => {
  test("is reported after a wait without another key, and keeps the line", () => {
    const editor = lineEditor();
    press(editor, "ab\u001b");
    expect(editor.settleMs).toBe(ESCAPE_MS);
    expect(editor.settle()).toEqual([ESCAPE]);
    expect(editor.settleMs).toBeUndefined();
    expect(editor.push("\r", AT)).toContainEqual(line("ab"));
  });

  test("is reported before a key that forms no known sequence with it", () => {
    expect(type("\u001bx\r")).toEqual([ESCAPE, line("x")]);
    expect(type("\u001b\u001b[A\r")).toEqual([ESCAPE, line("")]);
  });

  test("is not a key in a paste, whose end may come late", () => {
    const editor = lineEditor();
    expect(press(editor, "\u001b[200~a\u001bb\u001b[2")).toEqual([]);
    expect(editor.settleMs).toBeUndefined();
    expect(press(editor, "01~\r")).toEqual([line("ab")]);
  });

  test("is not reported if a key sequence arrives in two pieces", () => {
    expect(type("\u001b", "[A", "a\r")).toEqual([line("a")]);
  });

  test("first closes the list of suggestions", () => {
    const editor = lineEditor();
    editor.connect({ complete: () => [{ insert: "/help ", label: "/help" }] });
    press(editor, "/h\u001b");
    expect(editor.settle()).toEqual([{ kind: "changed" }]);
    expect(editor.edited.suggestions).toBeUndefined();
    press(editor, "\u001b");
    expect(editor.settle()).toEqual([ESCAPE]);
  });

  test.each(["\u001b[", "\u001bO", "\u001b[1;"])(
    "is reported for the partial sequence %j if no input follows",
    (partial) => {
      const editor = lineEditor();
      expect(editor.push(partial, AT)).toEqual([]);
      expect(editor.settle()).toEqual([ESCAPE]);
      expect(editor.push("x\r", AT)).toContainEqual(line("x"));
    },
  );
});

test.each([
  ["a terminal's attributes", "\u001b[?1;2c"],
  ["a mouse click", "\u001b[<0;10;20M"],
  ["a key with Super", "\u001b[27;9;97~"],
  ["a modifier of two digits", "\u001b[1;10A"],
  ["a window's size", "\u001b[8;24;80t"],
  ["a colour", "\u001b[38;5;208m"],
  ["a terminal's background", "\u001b]11;rgb:0000/0000/0000\u001b\\"],
  ["a terminal's name", "\u001bP>|tmux 3.5a\u001b\\"],
  ["a link", "\u001b]8;;https://a.example\u0007"],
])("lineEditor › %s, an unknown sequence, adds no character, typed or pasted", (_, sequence) => {
  expect(type(`a${sequence}b\r`)).toEqual([line("ab")]);
  expect(type(`\u001b[200~a${sequence}b\u001b[201~\r`)).toEqual([line("ab")]);
});

test.each([
  ["\u0003", "SIGINT"],
  ["\u001c", "SIGQUIT"],
] as const)("lineEditor › %j drops the line and reports the signal %s", (char, signal) => {
  expect(type(`abc${char}d\r`)).toEqual([{ kind: "signal", signal, dropped: true }, line("d")]);
});

test("lineEditor › keeps the line when Ctrl-Z stops the process", () => {
  const stopped = { kind: "signal", signal: "SIGTSTP", dropped: false };
  expect(type("abc\u001ad\r")).toEqual([stopped, line("abcd")]);
});

test("lineEditor › reports view keys in order, keeps the line, and ignores them inside a paste", () => {
  const keys = ["\u001b[1;2A", "\u001b[1;2B", "\u0014", "\u001b[5~", "\u001b[6~"];
  const viewKeys = ["up", "down", "tasks", "page-up", "page-down"].map((key) => ({ kind: "key", key }));
  expect(type("a", ...keys, "b\r")).toEqual([...viewKeys, line("ab")]);
  expect(type(`\u001b[200~x${keys.join("")}y\u001b[201~\r`)).toEqual([line("xy")]);
});

test("lineEditor › reports Ctrl-D in an empty line, Ctrl-O and Ctrl-L, and can be cleared", () => {
  expect(type("\u0004", "\u000f", "\u000c")).toEqual([
    { kind: "end" },
    { kind: "pane", key: "expand" },
    { kind: "pane", key: "redraw" },
  ]);
  const editor = lineEditor();
  press(editor, "ab");
  editor.clear();
  expect(editor.edited.text).toBe("");
});

describe("lineEditor › with extended keys", () => {
  test.each([
    ["CSI u", "\u001b[13;2u", "\u001b[32;2u"],
    ["modifyOtherKeys", "\u001b[27;2;13~", "\u001b[27;2;32~"],
  ])("Shift+Enter adds a line and Shift+Space a space in the format of %s", (_format, enter, space) => {
    expect(type(`one${enter}two${space}three\r`)).toEqual([line("one\ntwo three")]);
    expect(type("one", ...enter, "two\r")).toEqual([line("one\ntwo")]);
  });

  test("Ctrl+Enter and Enter of the keypad send the line, and Shift+Tab and Esc are keys", () => {
    expect(type("one\u001b[13;5u")).toEqual([line("one")]);
    expect(type("one\u001bOr\u001bOM")).toEqual([line("one2")]);
    expect(type("\u001b[9;2u", "\u001b[27u", "\u001b[27;2;27~")).toEqual([
      { kind: "shift-tab" },
      ESCAPE,
      ESCAPE,
    ]);
  });

  test("Ctrl+C interrupts, and Alt with an unbound letter is not Esc", () => {
    expect(type("\u001b[99;5u")).toEqual([{ kind: "signal", signal: "SIGINT", dropped: false }]);
    expect(type("\u001b[120;3u")).toEqual([]);
  });

  test("keys with modifiers edit the line", () => {
    expect(edited("one two\u001b[127;5u")).toBe("one |");
    expect(edited("one two\u001b[1;6D")).toBe("one |two");
    expect(edited("one two\u001b[1;2D")).toBe("one tw|o");
    expect(edited("one two\u001b[1;5H\u001b[3;5~")).toBe("| two");
  });

  test("a paste does not contain keys", () => {
    expect(type("\u001b[200~a\u001b[13;2ub\u001b[201~\r")).toEqual([line("ab")]);
  });
});
