import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { TranscriptLine } from "../../src/agent/conversation/transcript.ts";
import { bashTool } from "../../src/agent/tools/bash.ts";
import { linesBackwards } from "../../src/os/files/lines.ts";
import { openLines } from "../../src/os/files/whole-lines.ts";
import { OutputTail } from "../../src/os/process/output-tail.ts";
import { escapeBody, readEnvelopes } from "../../src/protocol/envelope.ts";
import type { Task } from "../../src/schema/task.ts";
import { newFailures } from "../../src/sidebar/failures.ts";
import { graphNodes } from "../../src/sidebar/graph.ts";
import { salvageJson } from "../../src/store/salvage-json.ts";
import { recover } from "../../src/team/inbox/inbox-format.ts";
import { dependencyCycle } from "../../src/team/tasks/deadlock.ts";
import { conversationLog } from "../../src/terminal/conversation-log.ts";
import { safeStyler } from "../../src/terminal/output.ts";
import { paneWriter } from "../../src/terminal/pane/pane-writer.ts";
import { taskTable } from "../../src/terminal/task-text.ts";
import { cutText, textEnd, textStart } from "../../src/text/characters/cut-text.ts";
import { textBuffer } from "../../src/text/characters/text-buffer.ts";
import { diffRows } from "../../src/text/diff/diff-rows.ts";
import { joinedLines, replaceLines, withoutEnd } from "../../src/text/line-ends.ts";
import { markdownRows } from "../../src/text/markdown/rows.ts";
import { blockSplitter } from "../../src/text/markdown/splitter.ts";
import { shortPath } from "../../src/text/short-path.ts";
import { styler } from "../../src/text/style.ts";
import type { WorkerView } from "../../src/worker/view.ts";
import { growth, MAX_GROWTH } from "../support/timing/growth.ts";

/** Work on untrusted input: the size of the smaller input, a function that builds the input, and the work. */
type Case = readonly [
  what: string,
  size: number,
  prepare: (size: number) => unknown,
  work: (input: never) => unknown,
];

function linear<T>(
  what: string,
  size: number,
  prepare: (size: number) => T,
  work: (input: T) => unknown,
): Case {
  return [what, size, prepare, work];
}

const many = <T>(count: number, item: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => item(i));

const task = (id: number, blockedBy: readonly number[]): Task => ({
  id: String(id),
  subject: "a",
  description: "",
  status: "pending",
  blocks: [],
  blockedBy: blockedBy.map(String),
});

const showsNothing = new Proxy({}, { get: () => () => undefined }) as WorkerView;

const oneCharacter = (size: number): string => `a${"\u0301".repeat(size)}`;
const manyReturns = (size: number): string => "x\r\n".repeat(size);
const manyMatches = (size: number): string => "x ".repeat(size);
const manyFlags = (size: number): string => "🇩🇪".repeat(size);

function keptOutput(text: string): string {
  const tail = new OutputTail(1_000);
  for (const char of text) tail.add(Buffer.from(char));
  return tail.text;
}

function showInput(text: string): void {
  const message = { role: "user", content: [{ type: "text", text }] };
  conversationLog(showsNothing)([{ type: "user", message } as unknown as TranscriptLine]);
}

function writeToPane(text: string): void {
  const pane = paneWriter({ write: () => undefined, width: () => 80, plain: true });
  pane.text("a");
  pane.text(text);
}

/** A heading of one long word above many rows; the table is too wide for a grid. */
function longTable(size: number): string {
  const [head, rule] = [many(25, () => "|b").join(""), "|-".repeat(26)];
  return `|${"h".repeat(size / 2)}${head}|\n${rule}|\n${"|a\n".repeat(size / 6)}`;
}

test.each<Case>([
  linear("escapeBody › spaces after a bracket", 4_000, (size) => `<${" ".repeat(size)}1`, escapeBody),
  linear(
    "readEnvelopes › messages without an end",
    100_000,
    (size) => '<teammate_message teammate_id="a">\n'.repeat(size / 35),
    readEnvelopes,
  ),
  linear(
    "readEnvelopes › names without an end",
    40_000,
    (size) => '<teammate_message teammate_id="'.repeat(size / 31),
    readEnvelopes,
  ),
  linear(
    "conversationLog › notifications without an end",
    4_000,
    (size) => "<task_notification>\n<summary>".repeat(size / 29),
    showInput,
  ),
  linear(
    "bashTool › the summary of a command with spaces",
    4_000,
    (size) => `a${" ".repeat(size)}b`,
    (command) => bashTool.summary({ command }),
  ),
  linear(
    "joinedLines › spaces",
    4_000,
    (size) => " ".repeat(size),
    (text) => joinedLines(text, " "),
  ),
  linear("textStart › marks on one character", 40_000, oneCharacter, (text) =>
    textStart(text, text.length - 1),
  ),
  linear("textEnd › flags without a boundary", 40_000, manyFlags, (text) => textEnd(text, text.length - 1)),
  linear("cutText › emoji that are left out", 40_000, manyFlags, (text) => cutText(text, 1)),
  linear("replaceLines › matches with carriage returns", 20_000, manyReturns, (text) =>
    replaceLines(text, "x", "y\nz"),
  ),
  linear("replaceLines › matches in one line", 20_000, manyMatches, (text) =>
    replaceLines(text, "x", "y\nz"),
  ),
  linear("OutputTail › pieces", 2_000, manyFlags, keptOutput),
  linear(
    "withoutEnd › the character in the middle",
    4_000,
    (size) => `${"/".repeat(size)}a`,
    (text) => withoutEnd(text, "/"),
  ),
  linear(
    "shortPath › slashes",
    4_000,
    (size) => `a${"/".repeat(size)}b`,
    (path) => shortPath(path, undefined, 40),
  ),
  linear("paneWriter › line ends in a text", 4_000, (size) => `${"\n".repeat(size)}x`, writeToPane),
  linear("salvageJson › damaged places", 20_000, (size) => `[${"1 ".repeat(size / 2)}`, salvageJson),
  linear(
    "recover › damaged places in an inbox",
    20_000,
    (size) => `[${'{{"from":"a","text":"b","timestamp":"c"} '.repeat(size / 41)}`,
    recover,
  ),
  linear(
    "diffRows › lines without an end",
    8_000,
    (size) => many(size, (i) => (i % 2 === 0 ? "-a" : "\\ No newline at end of file")),
    (lines) => diffRows(lines, { width: 80, plain: true, limit: 10_000_000 }),
  ),
  linear(
    "blockSplitter › spaces in the last line",
    4_000,
    (size) => `${" ".repeat(size)}x`,
    (text) => {
      const splitter = blockSplitter();
      splitter.push(text);
      return splitter.rest();
    },
  ),
  linear("markdownRows › a long heading above many rows of a table", 6_000, longTable, (text) =>
    markdownRows(text, { width: 80, style: styler(true) }),
  ),
  linear(
    "textBuffer › the word before the cursor",
    4_000,
    (size) => `${"a".repeat(size)} b`,
    (text) => {
      const buffer = textBuffer();
      buffer.set(text);
      buffer.move("word-left");
    },
  ),
  linear(
    "taskTable › tasks that wait for unknown tasks",
    1_000,
    (size) =>
      many(size, (id) =>
        task(
          id,
          many(20, (i) => size + i),
        ),
      ),
    (tasks) => taskTable(tasks, { styleText: safeStyler(false), columns: 80 }),
  ),
  linear(
    "graphNodes › tasks that wait for one task",
    4_000,
    (size) => many(size, (id) => task(id, id === 0 ? [] : [0])),
    graphNodes,
  ),
  linear(
    "newFailures › tasks",
    2_000,
    (size) => ({
      status: { team: "a", members: [], tasks: { list: many(size, (id) => task(id, [])) }, approvals: [] },
      messages: [],
    }),
    (data) => newFailures(data, data),
  ),
  linear(
    "dependencyCycle › a chain of tasks",
    1_000,
    (size) => many(size, (id) => task(id, id === size - 1 ? [] : [id + 1])),
    dependencyCycle,
  ),
])("%s: take time proportional to their number", (_, size, prepare, work) => {
  expect(growth(size, prepare, work as (input: unknown) => unknown)).toBeLessThan(MAX_GROWTH);
});

test("linesBackwards and openLines › take time proportional to the length of a line", () => {
  const directory = mkdtempSync(join(tmpdir(), "growth-"));
  try {
    const write = (size: number): string => {
      const path = join(directory, String(size));
      writeFileSync(path, `a\n${"x".repeat(size)}\n`);
      return path;
    };
    const size = 8 * 1024 * 1024;
    expect(growth(size, write, (path) => [...linesBackwards(path)].length)).toBeLessThan(MAX_GROWTH);
    expect(growth(size, write, (path) => openLines(path)?.read().length)).toBeLessThan(MAX_GROWTH);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
