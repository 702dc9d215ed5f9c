import { describe, expect, test } from "vitest";
import {
  type AgentSummary,
  applyKey,
  type KeyPress,
  LEAD_VIEW,
  outputRows,
  renderFrame,
  type TeamView,
  type ViewFacts,
  validView,
} from "../../../../src/runtime/lead/team-view.ts";
import { styler } from "../../../../src/text/style.ts";

const agent = (name: string, more: Partial<AgentSummary> = {}): AgentSummary => ({
  name,
  color: "blue",
  state: "idle",
  activity: "",
  lines: [`${name} says`],
  ...more,
});
const TRIO = [agent("ann"), agent("bob", { state: "active", activity: "Bash(make)" }), agent("eve")];

/** Returns the views that the keys open, as `at:selected`; a `!` marks an interrupt. */
function walk(keys: readonly KeyPress[], agents: readonly AgentSummary[] = TRIO): readonly string[] {
  let view: TeamView = LEAD_VIEW;
  return keys.map((key) => {
    const next = applyKey(view, key, agents);
    view = next.view;
    return `${view.at}:${view.selected ?? ""}${next.interrupt ? "!" : ""}`;
  });
}

describe("applyKey", () => {
  test.each<[string, readonly KeyPress[], readonly string[]]>([
    [
      "down selects from the first and wraps around",
      ["down", "down", "down", "down"],
      ["list:ann", "list:bob", "list:eve", "list:ann"],
    ],
    [
      "up selects from the last and wraps around",
      ["up", "up", "up", "up"],
      ["list:eve", "list:bob", "list:ann", "list:eve"],
    ],
    [
      "enter opens the selected agent, and up and down switch between agents",
      ["down", "enter", "down", "up"],
      ["list:ann", "agent:ann", "agent:bob", "agent:ann"],
    ],
    [
      "escape closes the list and keeps its selection",
      ["down", "down", "escape", "down"],
      ["list:ann", "list:bob", "lead:bob", "list:bob"],
    ],
    [
      "escape interrupts a working agent and leaves an idle one",
      ["down", "enter", "escape", "down", "down", "enter", "escape"],
      ["list:ann", "agent:ann", "lead:ann", "list:ann", "list:bob", "agent:bob", "agent:bob!"],
    ],
    [
      "the tasks key opens and closes the tasks from any view",
      ["tasks", "tasks", "down", "tasks", "escape"],
      ["tasks:", "lead:", "list:ann", "tasks:ann", "list:ann"],
    ],
    [
      "enter and escape do nothing in the lead's own view",
      ["enter", "escape", "page-up"],
      ["lead:", "lead:", "lead:"],
    ],
  ])("%s", (_, keys, places) => {
    expect(walk(keys)).toEqual(places);
  });

  test("does nothing if there are no agents", () => {
    expect(walk(["down", "up", "enter"], [])).toEqual(["lead:", "lead:", "lead:"]);
  });

  test("scrolls a viewed agent back no further than its first row", () => {
    const long = agent("ann", { lines: Array.from({ length: 15 }, (_, i) => `row ${i}`) });
    const back = (view: TeamView, key: KeyPress): TeamView =>
      validView(applyKey(view, key, [long]).view, [long]);
    const viewed: TeamView = { at: "agent", selected: "ann", scrolledBack: 0 };
    const far = ["page-up", "page-up", "page-up"].reduce((view, key) => back(view, key as KeyPress), viewed);
    expect(far.scrolledBack).toBe(15);
    expect(back(far, "page-down").scrolledBack).toBe(5);
    expect(back(back(far, "page-down"), "page-down").scrolledBack).toBe(0);
    // An interrupt scrolls to the end, so that the user sees its effect.
    const works = { ...long, state: "active" as const };
    expect(applyKey(far, "escape", [works])).toEqual({ view: { ...far, scrolledBack: 0 }, interrupt: true });
  });
});

test("validView returns to the list when the viewed agent leaves, and to the lead when the last agent leaves", () => {
  const viewed: TeamView = { at: "agent", selected: "bob", scrolledBack: 0 };
  expect(validView(viewed, TRIO)).toEqual(viewed);
  expect(validView(viewed, [agent("ann")])).toEqual({ at: "list", selected: "ann", scrolledBack: 0 });
  expect(validView(viewed, [])).toEqual(LEAD_VIEW);
});

describe("renderFrame", () => {
  const facts = (more: Partial<ViewFacts> = {}): ViewFacts => ({
    team: "crew",
    agents: TRIO,
    tasks: [],
    ...more,
  });
  const drawn = (view: TeamView, known: ViewFacts, size = { width: 50, height: 12 }, line = "") =>
    renderFrame(
      view,
      known,
      { ...size, styleText: styler(true) },
      { text: line, cursor: line.length, suggestions: undefined, search: undefined },
    );

  test.each([10, 24, 50])("shows outputRows rows of an agent's output at height %i", (height) => {
    const lines = Array.from({ length: 60 }, (_, i) => `row ${i}.`);
    const bob = agent("bob", { lines });
    const frame = drawn({ at: "agent", selected: "bob", scrolledBack: 0 }, facts({ agents: [bob] }), {
      width: 60,
      height,
    });
    expect(frame.rows.filter((row) => row.startsWith("row "))).toEqual(lines.slice(-outputRows(height)));
  });

  test("lists each agent with its state, and the last output of the selected agent", () => {
    expect(drawn({ at: "list", selected: "bob", scrolledBack: 0 }, facts()).rows).toEqual([
      "teammates of crew           Enter views · Esc back",
      "",
      "  ○ ann   idle",
      "› ● bob   Bash(make)",
      "  ○ eve   idle",
      "",
      "─".repeat(50),
      "bob says",
    ]);
  });

  test("shows an agent's output between its title and the input line, with the cursor after the input", () => {
    const bob = agent("bob", { state: "active", activity: "Bash(make)", lines: ["1", "2", "3", "4", "5"] });
    const frame = drawn(
      { at: "agent", selected: "bob", scrolledBack: 0 },
      facts({ agents: [bob] }),
      { width: 60, height: 7 },
      "go on",
    );
    expect(frame).toEqual({
      rows: [
        "● bob  Bash(make)            Esc interrupts · Shift+↑↓ next",
        "─".repeat(60),
        "3",
        "4",
        "5",
        "─".repeat(60),
        "› go on",
      ].map((row, i) =>
        i === 0 ? expect.stringMatching(/^● bob {2}Bash\(make\) +Esc interrupts · Shift\+↑↓ next$/) : row,
      ),
      cursor: { row: 6, column: 7 },
    });
    const back = drawn({ at: "agent", selected: "bob", scrolledBack: 10 }, facts({ agents: [bob] }), {
      width: 60,
      height: 7,
    });
    expect(back.rows.slice(2, 5)).toEqual(["1", "2", "3"]);
  });

  test("shows several lines of input, and the suggestions for a word", () => {
    const bob = agent("bob", { lines: ["1", "2", "3", "4", "5", "6", "7"] });
    const items = [
      { insert: "@a ", label: "a" },
      { insert: "@b ", label: "b" },
    ];
    const frame = renderFrame(
      { at: "agent", selected: "bob", scrolledBack: 0 },
      facts({ agents: [bob] }),
      { width: 40, height: 12, styleText: styler(true) },
      {
        text: "look\nat @",
        cursor: 9,
        suggestions: { from: 8, items, selected: 1, isChosen: true },
        search: undefined,
      },
    );
    expect([frame.rows.slice(2), frame.cursor]).toEqual([
      ["3", "4", "5", "6", "7", "─".repeat(40), "› look", "  at @", "  a", "› b"],
      { row: 9, column: 6 },
    ]);
  });

  test("never has more rows than a low terminal", () => {
    const frame = renderFrame(
      { at: "agent", selected: "bob", scrolledBack: 0 },
      facts({ agents: [agent("bob", { lines: ["1", "2"] })] }),
      { width: 40, height: 3, styleText: styler(true) },
      { text: "go", cursor: 2, suggestions: undefined, search: undefined },
    );
    expect([frame.rows, frame.cursor]).toEqual([["2", "─".repeat(40), "› go"], { row: 2, column: 4 }]);
  });

  test("has no input line for an agent that has ended", () => {
    const gone = agent("ann", { state: "failed" });
    const frame = drawn({ at: "agent", selected: "ann", scrolledBack: 0 }, facts({ agents: [gone] }));
    expect(frame.rows[0]).toMatch(/^✗ ann {2}crashed/);
    expect([frame.rows.at(-1), frame.cursor]).toEqual(["this teammate has ended", undefined]);
  });

  test("lists each task with its owner and its blockers", () => {
    const task = (id: string, more: object) => ({
      id,
      subject: `task ${id}`,
      description: "",
      status: "pending" as const,
      blocks: [],
      blockedBy: [],
      ...more,
    });
    const tasks = [
      task("1", { status: "completed" }),
      task("2", { status: "in_progress", owner: "ann" }),
      // The second id is from another program.
      task("3", { blockedBy: ["2", "\u001b]0;owned\u0007\u001b[2J9"] }),
    ];
    expect(drawn({ at: "tasks", selected: undefined, scrolledBack: 0 }, facts({ tasks })).rows).toEqual([
      "tasks of crew · 1 of 3 done               Esc back",
      "",
      "✓   #1 task 1",
      "◐   #2 task 2 · ann",
      "◌   #3 task 3 · after #2 #9",
    ]);
  });

  test("names the second key only if there is room and the key does something", () => {
    const bob = agent("bob", { state: "active", activity: "Bash(make)" });
    const [head] = drawn({ at: "agent", selected: "bob", scrolledBack: 0 }, facts({ agents: [bob] }), {
      width: 40,
      height: 7,
    }).rows;
    expect(head).toBe("● bob  Bash(make)         Esc interrupts");
  });

  test("cuts lines that were written for a wider terminal and keeps their styles", () => {
    const styled = styler(false);
    const ann = agent("ann", {
      lines: [
        `${styled("bold", "1234567890")} 1234567890`,
        "日本語日本語日本語日本語",
        styled(1, "12345678901234567890"),
      ],
    });
    const { rows } = drawn({ at: "agent", selected: "ann", scrolledBack: 0 }, facts({ agents: [ann] }), {
      width: 20,
      height: 7,
    });
    expect(rows.slice(2, 5)).toEqual([
      `${styled("bold", "1234567890")} 12345678…`,
      "日本語日本語日本語…",
      styled(1, "12345678901234567890"),
    ]);
  });

  test("keeps the selected agent of a long list visible", () => {
    const many = Array.from({ length: 40 }, (_, i) => agent(`agent-${i}`));
    for (const selected of ["agent-0", "agent-20", "agent-39"]) {
      const { rows } = drawn({ at: "list", selected, scrolledBack: 0 }, facts({ agents: many }));
      expect(rows).toContain(`› ○ ${selected.padEnd(8)}  idle`);
    }
  });

  test("has no more rows than the screen and no control characters from agents", () => {
    const many = Array.from({ length: 40 }, (_, i) => agent(`agent-${i}`));
    const wild = agent("bad\u001b[2J", {
      lines: ["stripped when it was written"],
      activity: "a\nb\u001b]0;x\u0007",
      state: "active",
    });
    for (const at of ["list", "agent", "tasks"] as const) {
      const { rows } = drawn(
        { at, selected: wild.name, scrolledBack: 0 },
        facts({ agents: [wild, ...many] }),
        { width: 30, height: 9 },
        "x".repeat(90),
      );
      expect(rows.length).toBeLessThanOrEqual(9);
      expect(rows.join("")).not.toContain("\u001b");
    }
  });
});
