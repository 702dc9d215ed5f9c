import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Content, Source } from "../../../../src/sidebar/documents.ts";
import { graphNodes, graphOrder } from "../../../../src/sidebar/graph.ts";
import type { Action } from "../../../../src/sidebar/keys.ts";
import type { Line } from "../../../../src/sidebar/spans.ts";
import { type SidebarState, START } from "../../../../src/sidebar/state.ts";
import { press, typed, withContent } from "../../../../src/sidebar/step.ts";
import { frame } from "../../../../src/sidebar/view-model.ts";
import { spansOfStyled } from "../../../../src/sidebar/views/styled-spans.ts";
import { displayWidth } from "../../../../src/text/cell-width.ts";
import { styled, TONE } from "../../../../src/text/style.ts";
import { DIFF } from "../../../support/sidebar/document-data.ts";
import { AUDIT, task } from "../../../support/sidebar/sidebar-data.ts";

const SIZE = { width: 50, height: 24 };
const text = (line: Line): string =>
  line.spans
    .map((span) => span.text)
    .join("")
    .trimEnd();

/** Returns a sidebar that shows a document. */
function showing(source: Source, content: Content): SidebarState {
  const top = source.kind === "log" || source.kind === "messages" ? "end" : 0;
  const reader = { source, top, cursor: 0, back: "team" } as const;
  return withContent({ ...START, view: source.kind, reader }, source, content);
}

function pressed(state: SidebarState, ...actions: readonly Action[]): SidebarState {
  return actions.reduce((now, action) => press(now, action, AUDIT, new Map(), SIZE).state, state);
}

function written(state: SidebarState, line: string): SidebarState {
  return [...line, "enter"].reduce((now, key) => {
    const char = key.length === 1 ? key : undefined;
    return typed(now, { name: key, char }, AUDIT, SIZE).state;
  }, state);
}

const shown = (state: SidebarState, size = SIZE): string[] => frame(AUDIT, state, size).map(text);

describe("a member's diff in the sidebar", () => {
  const diff = showing({ kind: "diff", member: "history" }, { kind: "diff", diff: DIFF });

  test("shows files, line numbers, signs and escaped control characters", () => {
    expect(shown(diff).slice(0, 12)).toEqual([
      " history · changes +2 -2",
      "",
      "▌M src/clock.ts                              +2 -1",
      " 10   function now() {",
      " 11 -   return Date.now();",
      " 11 +   return clock.now();",
      " 12 +   // \\u001b[2Jdiff --git a/evil b/evil",
      " 13   }",
      "",
      " D old.txt                                      -1",
      " 1 - gone",
      "",
    ]);
  });

  test("colours lines, and inverts the colours of changed words", () => {
    const spans = frame(AUDIT, diff, SIZE).flatMap((line) => line.spans);
    expect(spans).toContainEqual(expect.objectContaining({ text: "Date", fg: TONE.bad, reverse: true }));
    expect(spans).toContainEqual(expect.objectContaining({ text: "clock", fg: TONE.good, reverse: true }));
  });

  test("accepts comments on added, kept and removed lines, and sends them together", () => {
    let state = pressed(diff, "down", "comment");
    expect(state.prompt).toMatchObject({ kind: "comment", place: { line: 10, side: "after" } });
    state = written(state, "why?");
    // The comment has its own row.
    state = written(pressed(state, "down", "down", "comment"), "keep it");
    expect(shown(state)).toContain("   ✎ why?");
    const { effect } = press(state, "send-comments", AUDIT, new Map(), SIZE);
    expect(effect).toEqual({
      kind: "comments",
      member: "history",
      comments: [
        { path: "src/clock.ts", line: 10, side: "after", quote: "function now() {", text: "why?" },
        { path: "src/clock.ts", line: 11, side: "before", quote: "  return Date.now();", text: "keep it" },
      ],
    });
    const again = pressed(state, "up", "up", "comment");
    expect(again.prompt?.text).toBe("why?");
    const cleared = typed(again, { name: "C-u", char: undefined }, AUDIT, SIZE).state;
    const removed = written(cleared, "");
    expect(removed.comments?.history).toHaveLength(1);
  });

  test("has no line to comment on in a heading", () => {
    expect(pressed(diff, "comment").notice).toContain("no line to comment on");
    expect(shown(diff).slice(-2).join("")).not.toContain("comment");
    expect(shown(pressed(diff, "down")).slice(-2).join("")).toContain("c comment");
  });

  test("jumps from file to file", () => {
    expect(shown(pressed(diff, "next-file"), { ...SIZE, height: 8 })).toContain(
      "▌D old.txt                                      -1",
    );
    expect(pressed(diff, "next-file", "previous-file").reader?.cursor).toBe(0);
  });

  test("says which files are not shown, since the diff is too long", () => {
    const added = Array.from({ length: 20_000 }, () => "+x");
    const big = ["diff --git a/big b/big", "@@ -0,0 +1,20000 @@", ...added];
    const last = ["diff --git a/z b/z", "@@ -1 +1 @@", "-a", "+b"];
    const files = [
      { path: "big", added: 20_000, removed: 0, status: "added" },
      { path: "z", added: 1, removed: 1, status: "modified" },
    ] as const;
    const content = { kind: "diff", diff: { ...DIFF, files, patch: [...big, ...last].join("\n") } } as const;
    const long = pressed(showing({ kind: "diff", member: "history" }, content), "last");
    expect(shown(long).filter((row) => row.includes("teams diff"))).toEqual([
      " not shown here; see teams diff",
      "▌… 6 more lines; see teams diff",
    ]);
  });

  test("says that there are no changes", () => {
    const none = showing(
      { kind: "diff", member: "a" },
      { kind: "diff", diff: { ...DIFF, files: [], patch: "" } },
    );
    expect(shown(none)).toContain("▌no changes since 0123456789");
  });
});

describe("a log in the sidebar", () => {
  const rows = Array.from({ length: 100 }, (_, i) => `row ${i + 1}`);
  const source = { kind: "log", member: "history" } as const;
  const log = showing(source, { kind: "log", rows });

  test("follows the end, stays at its place after a move, and follows again at the end", () => {
    const more = (state: SidebarState) => withContent(state, source, { kind: "log", rows: [...rows, "new"] });
    expect(shown(more(log))).toContain(" new");
    const up = pressed(log, "up");
    expect(shown(more(up))).not.toContain(" new");
    expect(shown(more(up))[2]).toBe(shown(up)[2]);
    expect(shown(more(pressed(up, "down")))).toContain(" new");
    expect(shown(more(pressed(up, "first", "last")))).toContain(" new");
    expect(shown(log)[0]).toMatch(/following$/);
    expect(shown(pressed(log, "first"))[0]).toMatch(/1–21 of 100$/);
  });

  test("finds a text, marks it, and goes to the next and the previous match", () => {
    const found = written(pressed(log, "first", "search"), "ROW 9");
    expect(frame(AUDIT, found, SIZE).flatMap(({ spans }) => spans)).toContainEqual({
      text: "row 9",
      reverse: true,
    });
    const next = pressed(found, "next-match");
    expect(shown(next)[2]).toBe(" row 80");
    expect(shown(next)).toContain(" row 90");
    expect(shown(pressed(next, "previous-match"))).toContain(" row 9");
    expect(written(pressed(log, "search"), "nowhere").notice).toBe("nothing found: nowhere");
    expect(written(pressed(found, "search"), "").reader?.search).toBe("row 9".toUpperCase());
  });

  test("moves by pages with one row of overlap", () => {
    expect(shown(pressed(log, "first", "page-down"))[2]).toBe(" row 21");
    expect(shown(pressed(log, "page-up")).at(-2)).toBe(" row 80");
  });
});

describe("a whole request in the sidebar", () => {
  const plan = Array.from({ length: 40 }, (_, i) => `- step ${i + 1}`).join("\n");
  const request = {
    ...{ id: "plan-1", kind: "plan" as const, from: "writer", summary: "Write", planFilePath: "/p.md" },
    ...{ planContent: `# The plan\n\n${plan}\n\n\x1b[2Jdone` },
  } as const;
  const state = showing({ kind: "request", id: "plan-1", from: "writer" }, { kind: "request", request });

  const seen = (now: SidebarState, size = SIZE) =>
    frame(AUDIT, now, size).flatMap(({ wholeRequest }) => wholeRequest ?? []);

  test("is marked as seen only when all of its rows were on the screen", () => {
    expect(seen(state)).toEqual([]);
    const read = pressed(state, "page-down", "page-down");
    expect(shown(read)).toContain(" \\u001b[2Jdone");
    expect(seen(read)).toEqual(["plan-1"]);
    expect(seen({ ...read, notice: "a notice ".repeat(20) })).toEqual(["plan-1"]);
    expect(seen(pressed(read, "first"))).toEqual(["plan-1"]);
  });

  test("is not marked as seen if a key jumped over a part of it, or the width has changed", () => {
    const skipped = pressed(state, "last");
    expect(shown(skipped)).toContain(" \\u001b[2Jdone");
    expect(seen(skipped)).toEqual([]);
    expect(seen(pressed(skipped, "up", "down"))).toEqual([]);
    expect(seen(pressed(state, "page-down", "page-down"), { ...SIZE, width: 49 })).toEqual([]);
  });

  test("does not count the rows that a notice hides as read", () => {
    const noticed = { ...state, notice: "a notice ".repeat(20) };
    const { reader } = pressed(noticed, "page-down");
    expect(reader?.read?.rows).toBeLessThan(pressed(state, "page-down").reader?.read?.rows ?? 0);
  });

  test("y goes to the first row that was not shown", () => {
    const { state: next, effect } = press(pressed(state, "last"), "yes", AUDIT, new Map(), SIZE);
    expect([effect, next.prompt]).toEqual([undefined, undefined]);
    expect(next.notice).toContain("part of the request was not shown yet");
    expect(next.reader?.top).toBe((next.reader?.read?.rows ?? 0) - 1);
  });

  test.each([
    ["a cell without a column", "| a |\n|---|\n| 1 | rm -rf / |"],
    ["the words after a fence", "```sh rm -rf /\nls\n```"],
    ["the title of a link", '[docs](http://x.example "then rm -rf /")'],
  ])("shows the source of a plan if Markdown hides %s", (_what, planContent) => {
    const one = showing(
      { kind: "request", id: "p", from: "writer" },
      { kind: "request", request: { id: "p", kind: "plan", from: "writer", summary: "s", planContent } },
    );
    expect(shown(one).join("\n")).toContain("rm -rf /");
  });

  test("shows the default of a question", () => {
    const question = { id: "q", kind: "question" as const, from: "ada", summary: "Delete it?" };
    const one = showing(
      { kind: "request", id: "q", from: "ada" },
      { kind: "request", request: { ...question, question: "Delete it?", default: "yes, delete" } },
    );
    expect(shown(one)).toContain(" default: yes, delete");
  });

  test("renders the plan's Markdown", () => {
    expect(shown(state).slice(2, 7)).toEqual([" /p.md", "", " The plan", "", " • step 1"]);
  });

  test("shows the change, the reason, the choices and the rules of always", () => {
    const permission = {
      ...{
        id: "perm-1",
        kind: "permission" as const,
        from: "ada",
        summary: "Edit(a.ts)",
        reason: "It is protected.",
      },
      ...{ change: ["@@ -1,1 +1,1 @@", "-a", "+b"], always: ["Edit(a.ts)"], choices: ["one", "two"] },
    } as const;
    const one = showing(
      { kind: "request", id: "perm-1", from: "ada" },
      { kind: "request", request: permission },
    );
    expect(shown(one).filter((row) => row !== "")).toEqual([
      " ada · permission",
      " Edit(a.ts)",
      " It is protected.",
      " 1 - a",
      " 1 + b",
      " 1  one",
      " 2  two",
      " always: Edit(a.ts)",
      " y yes  n no  a always  / search  q back",
    ]);
  });
});

test("T lists the teams, and Enter shows the selected team", () => {
  const teams = ["audit", "docs"].map((team) => ({
    ...{ team, displayName: team, members: 1, waiting: team === "docs" ? 2 : 0, isShown: team === "audit" },
  }));
  const state = showing({ kind: "teams" }, { kind: "teams", teams });
  expect(shown(state).slice(2, 4)).toEqual([
    "▌audit                                    1 member",
    " docs                                 ▲ 2 1 member",
  ]);
  expect(press(pressed(state, "down"), "go", AUDIT, new Map(), SIZE).effect).toEqual({
    kind: "team",
    team: "docs",
  });
  // The first team is already shown.
  expect(press(state, "go", AUDIT, new Map(), SIZE)).toMatchObject({ state: { view: "team" } });
  expect(press(state, "go", AUDIT, new Map(), SIZE).effect).toBeUndefined();
});

test("another team › is shown only if the user gives up unsent comments, and if it can be read", () => {
  const team = { displayName: "docs", members: 1, waiting: 0, isShown: false };
  const teams = [
    { ...team, team: "docs" },
    { ...team, team: "torn", problem: "not JSON" },
  ];
  const comment = { path: "a", line: 1, side: "after", quote: "x", text: "why?" } as const;
  const state = { ...showing({ kind: "teams" }, { kind: "teams", teams }), comments: { ada: [comment] } };
  const asked = press(state, "go", AUDIT, new Map(), SIZE);
  expect(asked.effect).toBeUndefined();
  expect(shown(asked.state).slice(-2)).toEqual([
    " y leaves · any other key stays",
    " leave without sending 1 comment?",
  ]);
  const answered = (char: string) => typed(asked.state, { name: char, char }, AUDIT, SIZE);
  expect(answered("y").effect).toEqual({ kind: "team", team: "docs" });
  expect(answered("n")).toMatchObject({ state: { comments: { ada: [comment] } } });
  expect(answered("n").effect).toBeUndefined();
  const torn = press(pressed(state, "down"), "go", AUDIT, new Map(), SIZE);
  expect([torn.effect, torn.state.notice]).toEqual([
    undefined,
    "the files of this team cannot be read; run teams doctor",
  ]);
});

test("a task in the sidebar › shows its facts with the output of its command, and its description as Markdown", () => {
  const facts = ["state:      completed", "shown:      failed", "", "  | 1 failed"];
  const details = { subject: "Mend the clock", facts, description: "In **src**:\n\n- one\n" };
  const state = showing({ kind: "task", id: "3" }, { kind: "task", task: details });
  expect(shown(state).slice(0, 12)).toEqual([
    " #3 · task",
    "",
    " Mend the clock",
    "",
    " state:      completed",
    " shown:      failed",
    "",
    "   | 1 failed",
    "",
    " In src:",
    "",
    " • one",
  ]);
});

describe("the task graph", () => {
  const tasks = [task(1, "a"), task(2, "b", { blockedBy: ["1"] }), task(3, "c", { blockedBy: ["1", "2"] })];

  test("lists a task below each task that it waits for, and unfolds it once", () => {
    expect(graphNodes(tasks).map(({ task: { id }, depth, isRepeated }) => [id, depth, isRepeated])).toEqual([
      ["1", 0, false],
      ["2", 1, false],
      ["3", 2, false],
      ["3", 1, true],
    ]);
  });

  test("contains every task once, even the tasks of a cycle", () => {
    const cycle = [task(1, "a", { blockedBy: ["2"] }), task(2, "b", { blockedBy: ["1"] })];
    expect(graphOrder(cycle)).toEqual(["1", "2"]);
  });

  test("is shown on w, with the selected task", () => {
    const rows = shown(press(START, "graph", AUDIT).state, { width: 34, height: 30 });
    expect(rows).toContain("▌✓ 1 Inventory of files… inventory");
    expect(rows).toContain(" └ ◌ 6 Write AUDIT.md       writer");
    expect(rows.some((row) => row.includes("└ ◌ 6 ↑ Write AUDIT.md"))).toBe(true);
  });
});

test("styles of a terminal row become spans, and links lose their address", () => {
  const row = `a${styled("b", ["bold", TONE.good])}${styled("c", ["reverse"])}\x1b]8;;http://x\x1b\\d\x1b]8;;\x1b\\`;
  expect(spansOfStyled(row)).toMatchObject([
    { text: "a" },
    { text: "b", bold: true, fg: TONE.good },
    { text: "c", bold: false, reverse: true },
    { text: "d", reverse: false },
  ]);
});

test("a document always has the requested number of rows, none wider than requested", () => {
  const contents: readonly (readonly [Source, Content])[] = [
    [
      { kind: "diff", member: "a" },
      { kind: "diff", diff: DIFF },
    ],
    [
      { kind: "messages", member: "a" },
      { kind: "messages", messages: AUDIT.messages, own: "team-lead" },
    ],
    [{ kind: "help" }, { kind: "help" }],
    [
      { kind: "task", id: "1" },
      { kind: "task", task: { subject: "s\x1b[2J", facts: ["state:      檢"], description: "檢 | a\n- b" } },
    ],
    [
      { kind: "request", id: "p", from: "w" },
      {
        kind: "request",
        request: { id: "p", kind: "plan", from: "w", summary: "s\x1b[2J", planContent: "檢 | a\n- b" },
      },
    ],
  ];
  fc.assert(
    fc.property(
      fc.nat(120),
      fc.nat(40),
      fc.constantFrom(...contents),
      fc.array(fc.constantFrom<Action>("down", "up", "page-down", "last", "comment", "search"), {
        maxLength: 4,
      }),
      (width, height, [source, content], actions) => {
        const size = { width, height };
        const state = actions.reduce(
          (now, action) => press(now, action, AUDIT, new Map(), size).state,
          showing(source, content),
        );
        const lines = frame(AUDIT, state, size);
        expect(lines).toHaveLength(height);
        for (const line of lines) {
          const row = line.spans.map((span) => span.text).join("");
          expect(displayWidth(row)).toBeLessThanOrEqual(width);
          expect(row).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
        }
      },
    ),
    { numRuns: 60 },
  );
});
