import { expect, test } from "vitest";
import { liveRegion } from "../../../src/terminal/live/live-region.ts";
import { screen } from "../../support/terminal/screen.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { stopSteadyClock } from "../../support/timing/steady-clock.ts";

function region({ width = 40, height = 24, apart = false } = {}) {
  const shown = screen();
  const size = { width, height };
  const writes: string[] = [];
  const live = liveRegion({
    out(text) {
      writes.push(text);
      shown.write(text);
    },
    apart,
    width: () => size.width,
    height: () => size.height,
    plain: true,
  });
  return {
    ...live,
    shown,
    size,
    writes,
    type(keys: string): void {
      for (const typed of live.editor.push(keys)) if (typed.kind === "changed") live.changed();
    },
  };
}

test("liveRegion › writes only the output without input and activity", () => {
  const { write, shown } = region();
  write("one\n");
  write("two\n");
  expect(shown.rows()).toEqual(["one", "two", ""]);
});

test("liveRegion › keeps its rows below the output, with the cursor in the typed line", () => {
  const { write, activity, openInput, type, shown, changed } = region();
  openInput();
  type("hello");
  activity("● Bash npm test");
  changed();
  write("one\n");
  type("\u001b[D\u001b[D");
  write("two\nthree\n");
  expect(shown.rows()).toEqual(["one", "two", "three", "● Bash npm test", "› hello"]);
  expect([shown.row, shown.column]).toEqual([4, 2 + 3]);
  activity(undefined);
  changed();
  expect(shown.rows()).toEqual(["one", "two", "three", "› hello"]);
});

test("liveRegion › shows several typed lines, and only the lines around the cursor if there are more", () => {
  const { openInput, type, shown } = region({ height: 12 });
  openInput();
  type("one\u001b\rtwo");
  expect(shown.rows()).toEqual(["› one", "  two"]);
  expect([shown.row, shown.column]).toEqual([1, 5]);
  type("\u001b\rthree\u001b\rfour\u001b\rfive");
  expect(shown.rows()).toEqual(["› two", "  three", "  four", "  five"]);
  type("\r");
  expect(shown.rows()).toEqual(["›"]);
});

test("liveRegion › breaks a long line at the last column and keeps wide characters whole", () => {
  const { openInput, type, shown } = region({ width: 12 });
  openInput();
  type("abcdef検査検査");
  expect(shown.rows()).toEqual(["› abcdef検", "  査検査"]);
  expect(shown.column).toBe(2 + 6);
  // On the first character of the second row.
  type("\u001b[D\u001b[D\u001b[D");
  expect([shown.row, shown.column]).toEqual([1, 2]);
  type("\u001b[D");
  expect([shown.row, shown.column]).toEqual([0, 2 + 6]);
});

test("liveRegion › shows the newest rows of progress, and leaves a row of the output visible", () => {
  const { openInput, progress, changed, shown, activity } = region({ height: 6 });
  openInput();
  activity("● Writing");
  progress(() => ["1", "2", "3", "4", "5", "6"]);
  changed();
  expect(shown.rows()).toEqual(["4", "5", "6", "● Writing", "›"]);
});

test("liveRegion › shows a queued line until it is released, except while paused", () => {
  const { openInput, hold, release, pause, resume, shown } = region();
  openInput();
  hold("first");
  expect(shown.rows()).toEqual(["› first  (queued)", "›"]);
  pause();
  expect(shown.rows().join("")).toBe("");
  hold("second");
  release("first");
  resume();
  expect(shown.rows()).toEqual(["› second  (queued)", "›"]);
  release("never held");
  release("second");
  expect(shown.rows()).toEqual(["›"]);
});

test("liveRegion › lists suggestions below the line, and Tab inserts the selected suggestion", () => {
  const { editor, openInput, type, shown } = region();
  editor.connect({
    complete: (word, command) =>
      (command === undefined ? ["/status", "/stop"] : [])
        .filter((name) => name.startsWith(word))
        .map((name) => ({ insert: `${name} `, label: name })),
  });
  openInput();
  type("/st");
  expect(shown.rows()).toEqual(["› /st", "› /status", "  /stop"]);
  type("\u001b[B\t");
  expect(shown.rows()).toEqual(["› /stop"]);
});

test("liveRegion › shows the number of suggestions if not all are shown", () => {
  const { editor, openInput, type, shown } = region();
  const names = Array.from({ length: 30 }, (_, i) => `/go-${i + 1}`);
  editor.connect({ complete: () => names.map((name) => ({ insert: `${name} `, label: name })) });
  openInput();
  type("/g");
  const rows = shown.rows();
  expect([rows[1], rows.at(-1)]).toEqual(["› /go-1", "  1 of 30"]);
  type("\u001b[A");
  expect(shown.rows().slice(-2)).toEqual(["› /go-30", "  30 of 30"]);
});

test("liveRegion › reports that no line of the history matches a search", () => {
  const { editor, openInput, type, shown } = region();
  editor.connect({ history: { entries: () => ["run tests"], add: () => undefined } });
  openInput();
  type("\u0012run");
  expect(shown.rows()).toEqual(["search run › run tests"]);
  type("x");
  expect(shown.rows()).toEqual(["not found: runx › run tests"]);
});

test("liveRegion › erases every row that its rows wrap to after the pane became narrower", () => {
  let out = "";
  let width = 40;
  const live = liveRegion({
    out: (text) => (out += text),
    width: () => width,
    height: () => 24,
    plain: true,
  });
  live.openInput();
  live.activity("● Bash a command of thirty-four cells");
  live.editor.push("a line that is typed, in one row");
  live.changed();
  width = 10;
  out = "";
  live.changed();
  // The activity's 37 cells take four rows of ten; the cursor, at column 34, is in the fourth row of the line.
  expect(out).toMatch(/^(?:\x1b\[\?2026h)?\x1b\[7A\r/);
});

test("liveRegion › draws an unchanged row again after the pane became narrower", () => {
  let out = "";
  let width = 60;
  const live = liveRegion({
    out: (text) => (out += text),
    width: () => width,
    height: () => 24,
    plain: true,
  });
  live.openInput();
  live.activity("● Bash a command of forty cells in one row");
  live.changed();
  width = 30;
  out = "";
  live.changed();
  // The end of the activity was where the input line is now, and the input line below it.
  expect(out).toContain("\r\n\x1b[K› ");
  expect(out).toContain("\x1b[J");
});

test("liveRegion › erases nothing when it resumes without rows", () => {
  const { pause, resume, writes } = region();
  pause();
  writes.length = 0;
  resume();
  expect(writes.join("")).not.toContain("\x1b[J");
});

test("liveRegion › erases only the rows that it drew when one of them has a link", () => {
  let out = "";
  const live = liveRegion({
    out: (text) => (out += text),
    width: () => 40,
    height: () => 24,
    plain: true,
  });
  live.openInput();
  live.progress(() => ["See \x1b]8;;https://example.com/a/long/address\x1b\\the page\x1b]8;;\x1b\\."]);
  live.changed();
  out = "";
  live.changed();
  // The address takes no cells, so the text takes one row.
  expect(out).toMatch(/^(?:\x1b\[\?2026h)?\x1b\[1A\r/);
});

test("liveRegion › draws the changes of several calls together, in one frame", () => {
  const { together, write, activity, openInput, shown, writes } = region();
  openInput();
  writes.length = 0;
  const result = together(() => {
    write("one\n");
    together(() => write("two\n"));
    activity("● Thinking");
    return 7;
  });
  expect(result).toBe(7);
  expect(shown.rows()).toEqual(["one", "two", "● Thinking", "›"]);
  expect(writes).toHaveLength(1);
  expect(writes[0]).toMatch(/^\x1b\[\?2026h[\s\S]*\x1b\[\?2026l$/);
});

test("liveRegion › shows a question above the activity until it is removed, without a trace", () => {
  const { question, write, activity, openInput, shown } = region();
  openInput();
  write("before\n");
  question({ rows: () => ["▲ Allow it?", "  ls"], write: () => write("never\n") });
  activity("y yes · n no");
  write("a notice\n");
  expect(shown.rows()).toEqual(["before", "a notice", "▲ Allow it?", "  ls", "y yes · n no", "›"]);
  question(undefined);
  activity(undefined);
  write("after\n");
  expect(shown.rows()).toEqual(["before", "a notice", "after", "›"]);
});

test("liveRegion › writes a question above the region once the terminal is too small for it", () => {
  const { question, write, activity, openInput, changed, shown, size } = region({ height: 8 });
  const rows = ["1", "2", "3", "4", "5"];
  openInput();
  question({ rows: () => rows, write: () => write(`${rows.join("\n")}\n`) });
  activity("y yes");
  changed();
  expect(shown.rows()).toEqual([...rows, "y yes", "›"]);
  size.height = 6;
  changed();
  size.height = 8;
  changed();
  expect(shown.rows()).toEqual([...rows, "y yes", "›"]);
  // The question is output now.
  question(undefined);
  changed();
  expect(shown.rows()).toEqual([...rows, "y yes", "›"]);
});

test.each([
  [24, ["one", "", "  tail", "● Bash ls", "›"]],
  [10, ["one", "  tail", "● Bash ls", "›"]],
])("liveRegion › is separated from the output in a terminal of %i rows if there is room", (height, rows) => {
  const { write, activity, openInput, changed, shown } = region({ height, apart: true });
  openInput();
  expect(shown.rows()).toEqual(["›"]);
  write("one\n");
  activity("● Bash ls", () => ["  tail"]);
  changed();
  expect(shown.rows()).toEqual(rows);
});

test("liveRegion › draws a key with the text of the last frame, and the newer text with the next frame", async () => {
  stopSteadyClock();
  const { progress, openInput, type, shown, writes } = region();
  let renders = 0;
  let text = "one";
  const rows = () => {
    renders += 1;
    return [text];
  };
  openInput();
  progress(rows);
  await eventually("the first frame", () => shown.rows().includes("one"));
  text = "two";
  progress(rows);
  const before = renders;
  writes.length = 0;
  type("x");
  expect(writes).toHaveLength(1);
  expect([renders, ...shown.rows()]).toEqual([before, "one", "› x"]);
  await eventually("the next frame", () => shown.rows().includes("two"));
});
