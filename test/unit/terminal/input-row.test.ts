import { expect, test } from "vitest";
import { lineEnd, typingRow } from "../../../src/terminal/input-row.ts";

const WIPED = "\r\x1b[2K";

function row(columns = 40) {
  let text = "";
  let width = columns;
  const typing = typingRow({ out: (more) => (text += more), width: () => width, plain: true });
  const written = (): string => {
    const all = text;
    text = "";
    return all;
  };
  return {
    ...typing,
    written,
    resize(columns: number): void {
      width = columns;
    },
    type(keys: string): string {
      for (const typed of typing.editor.push(keys)) if (typed.kind === "echo") typing.echo(typed.text);
      return written();
    },
  };
}

test("typingRow writes output unchanged if nothing is typed", () => {
  const { write, written } = row();
  write("one\ntwo ");
  write("three");
  expect(written()).toBe("one\ntwo three");
});

test("typingRow keeps typed text in its own row while output continues above it", () => {
  const { write, written, type } = row();
  write("a \x1b[1mbold\x1b[22m");
  written();
  expect(type("hi")).toBe(`\n${WIPED}› hi`);
  write(" word");
  expect(written()).toBe(`${WIPED}\x1b[1A\x1b[7G word\n${WIPED}› hi`);
  write("\n");
  expect(written()).toBe(`${WIPED}\x1b[1A\x1b[12G\n${WIPED}› hi`);
  write("next");
  expect(written()).toBe(`${WIPED}next\n${WIPED}› hi`);
  expect(type("\r")).toBe(`${WIPED}\x1b[1A\x1b[5G`);
});

test("typingRow shows a queued line until it is released, except while paused", () => {
  const { hold, release, pause, resume, written } = row();
  hold("first");
  expect(written()).toBe(`${WIPED}› first  (queued)`);
  pause();
  expect(written()).toBe(WIPED);
  hold("second");
  release("first");
  expect(written()).toBe("");
  resume();
  expect(written()).toBe(`${WIPED}› second  (queued)`);
  release("second");
  release("never held");
  expect(written()).toBe(WIPED);
});

test.each([
  ["short", 10, "short"],
  ["a line that is too long", 8, "too long"],
  ["two\nlines", 20, "two⏎lines"],
  ["検査検査", 5, "検査"],
  ["a\u009b2Jb", 10, "ab"],
  ["x".repeat(1_000_000), 3, "xxx"],
])("lineEnd: of %j in %i columns shows %j", (line, width, seen) => {
  expect(lineEnd(line, width)).toBe(seen);
});

test("typingRow clears every row that its text wraps to after the pane became narrower", () => {
  const { write, written, type, hold, resize } = row(40);
  write("twelve cells");
  hold("a line that waits for long");
  type("a line that is typed");
  resize(10);
  write("!");
  // 38 cells of the queued line and 22 of the typed line, in rows of ten.
  const wiped = Array.from({ length: 4 + 3 }, () => WIPED).join("\x1b[1A");
  // The output above now ends in its second row.
  expect(written()).toContain(`${wiped}\x1b[1A\x1b[3G!`);
});
