import { expect, test } from "vitest";
import { lineEnd, typingRow } from "../../../src/cli/typing-row.ts";

const WIPED = "\r\x1b[2K";

function row(width = 40) {
  let text = "";
  const typing = typingRow({ out: (more) => (text += more), width: () => width, plain: true });
  const written = (): string => {
    const all = text;
    text = "";
    return all;
  };
  return {
    ...typing,
    written,
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
