import { describe, expect, test } from "vitest";
import { drawScreen, endText } from "../../../src/cli/peek-renderer.ts";

const SIZE = { columns: 12, rows: 4 };

describe("drawing of another pane's screen", () => {
  test("shows the last rows that fit and the footer below them", () => {
    expect(linesOf(drawScreen(["1", "2", "3", "4", "5"], "foot", SIZE))).toEqual(["3", "4", "5", "foot"]);
    expect(linesOf(drawScreen(["1"], "foot", SIZE))).toEqual(["1", "", "", "foot"]);
    expect(linesOf(drawScreen([], "foot", { columns: 12, rows: 1 }))).toEqual(["", "foot"]);
  });

  test("cuts long rows by cell width and clears the rest of shorter rows", () => {
    const picture = drawScreen(["123456789012", "1234567890123", "検査検査検査検査"], "foot", SIZE);
    expect(picture).toContain("123456789012\r\n12345678901…\r\n検査検査検…\x1b[K\r\n");
  });

  test("removes sequences that move the cursor, colour or retitle the terminal", () => {
    const picture = drawScreen(
      ["\x1b[31mred\x1b[2J", "\x1b]0;mine\x07t", "a\rb\x9b2J\tc\u202edcba"],
      "foot",
      {
        columns: 80,
        rows: 4,
      },
    );
    expect(linesOf(picture)).toEqual(["red", "t", "a b cdcba", "foot"]);
    for (const [sequence] of picture.matchAll(/\x1b[^A-Za-z]*[A-Za-z]/g))
      expect(DRAWING_SEQUENCES).toContain(sequence);
    expect(picture.replaceAll("\r\n", "")).not.toMatch(/[\x00-\x1a\x7f-\x9f\u202e]/);
  });
});

describe("endText", () => {
  test.each([
    [undefined, "ada has ended."],
    [{ code: 0, signal: null }, "ada has ended: exit code 0."],
    [{ code: null, signal: "SIGKILL" }, "ada has ended: SIGKILL."],
    [{ code: null, signal: null }, "ada has ended: exit code unknown."],
  ])("returns for exit %j: %s", (exit, text) => {
    expect(endText("ada\x1b[2J", exit)).toBe(text);
  });
});

const DRAWING_SEQUENCES = ["\x1b[?2026h", "\x1b[H", "\x1b[K", "\x1b[?2026l"];

function linesOf(picture: string): string[] {
  return picture.replace(/\x1b[^A-Za-z]*[A-Za-z]/g, "").split("\r\n");
}
