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

test("A pane in which nothing is typed is written as ever", () => {
  const { write, written } = row();
  write("one\ntwo ");
  write("three");
  expect(written()).toBe("one\ntwo three");
});

test("What is typed stands in a row of its own, and what is said meanwhile goes on above it", () => {
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

test("A line that waits is shown until it does not, and not on another's screen", () => {
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
])("of %j in %i columns its end is seen", (line, width, seen) => {
  expect(lineEnd(line, width)).toBe(seen);
});

test("Rows that go on in further ones, since the pane has become narrower, are taken away whole", () => {
  const { write, written, type, hold, resize } = row(40);
  write("twelve cells");
  hold("a line that waits for long");
  type("a line that is typed");
  resize(10);
  write("!");
  // 38 cells that wait, and 22 that are typed, in rows of ten.
  const wiped = Array.from({ length: 4 + 3 }, () => WIPED).join("\x1b[1A");
  // The words above have their end in a second row by now.
  expect(written()).toContain(`${wiped}\x1b[1A\x1b[3G!`);
});
