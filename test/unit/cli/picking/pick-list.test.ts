import { describe, expect, it } from "vitest";
import { listRows, scrolled, step } from "../../../../src/cli/picking/pick-list.ts";
import type { Pressed } from "../../../../src/terminal/input/key-decoder.ts";
import { displayWidth } from "../../../../src/text/cell-width.ts";
import { styler } from "../../../../src/text/style.ts";

const text = (keys: string): Pressed => ({ kind: "text", text: keys, pasted: false });
const START = { at: 0, top: 0 };

describe("the keys of a list", () => {
  it.each([
    [text("j"), { state: { at: 1, top: 0 } }],
    [text("jjk"), { state: { at: 1, top: 0 } }],
    [text("G"), { state: { at: 2, top: 0 } }],
    [text("3"), { picked: 2 }],
    [text("j2"), { picked: 1 }],
    [text("4"), { state: START }],
    [text("q"), { cancelled: true }],
    [{ kind: "edit", key: "down" }, { state: { at: 1, top: 0 } }],
    [{ kind: "edit", key: "up" }, { state: START }],
    [{ kind: "edit", key: "end" }, { state: { at: 2, top: 0 } }],
    [{ kind: "view", key: "page-down" }, { state: { at: 2, top: 0 } }],
    [{ kind: "enter" }, { picked: 0 }],
    [{ kind: "escape" }, { cancelled: true }],
    [{ kind: "signal", signal: "SIGINT" }, { cancelled: true }],
    [{ kind: "text", text: "2", pasted: true }, { state: START }],
  ] as const)("step › after the key %j, returns %j", (key, expected) => {
    expect(step(START, key, 3)).toEqual(expected);
  });
});

describe("the rows of a list", () => {
  const choices = Array.from({ length: 12 }, (_, i) => ({
    word: `team-${i}`,
    about: `~/a/long/directory/of/projects/${i}`,
  }));
  const size = { width: 40, height: 10 };

  it("fit into 40 columns and 10 rows, and keep the selected choice visible", () => {
    let state = START;
    for (let at = 0; at < choices.length; at += 1) {
      state = scrolled({ ...state, at }, choices.length, size);
      const rows = listRows("Which team?", choices, state, size, styler(true));
      expect(rows.length).toBeLessThan(size.height);
      expect(rows.filter((row) => displayWidth(row) >= size.width)).toEqual([]);
      expect(rows.filter((row) => row.startsWith(">"))).toEqual([expect.stringContaining(`team-${at}`)]);
    }
  });

  it("show names from files without control characters, and no style with NO_COLOR", () => {
    const hostile = [{ word: "a\u001b[2Jb", about: "x\ny" }];
    const rows = listRows("Which team?", hostile, START, size, styler(true));
    expect(rows.join("")).not.toContain("\u001b");
    expect(rows.join("")).not.toContain("\n");
  });
});
