import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AGENT_STATES } from "../../../src/schema/status.ts";
import type { SidebarApproval, SidebarData } from "../../../src/sidebar/data.ts";
import { KEYS } from "../../../src/sidebar/keys.ts";
import type { Line } from "../../../src/sidebar/spans.ts";
import { type SidebarState, START } from "../../../src/sidebar/state.ts";
import { press } from "../../../src/sidebar/step.ts";
import { frame } from "../../../src/sidebar/view-model.ts";
import { displayWidth } from "../../../src/text/cell-width.ts";
import { memberColor, TONE } from "../../../src/text/style.ts";
import { AUDIT, member, task } from "../../support/sidebar/sidebar-data.ts";

const text = (line: Line): string =>
  line.spans
    .map((span) => span.text)
    .join("")
    .trimEnd();
const shown = (data: SidebarData, width: number, height: number, state: SidebarState = START): string[] =>
  frame(data, state, { width, height }).map(text);

function withMembers(count: number): SidebarData {
  const members = Array.from({ length: count }, (_, i) => member(`agent-${i + 1}`));
  return { ...AUDIT, status: { ...AUDIT.status, members, approvals: [] } };
}

test("the sidebar › shows both names of the team, as lists and the pane of the lead do", () => {
  const named = { ...AUDIT, status: { ...AUDIT.status, displayName: "Docs Team" } };
  expect(shown(named, 34, 20)[0]).toMatch(/^ Docs Team \(audit\)/);
});

test("a member that is asked to shut down › shows that before its step", () => {
  const members = ["Bash(make)", ""].map((activity) => member("dev", { state: "stopping", activity }));
  const lines = shown({ ...AUDIT, status: { ...AUDIT.status, members, approvals: [] } }, 50, 20);
  expect(lines.filter((row) => row.includes("shutting down")).map((row) => row.slice(1).trim())).toEqual([
    "shutting down: Bash(make)",
    "shutting down",
  ]);
});

describe("a team that is led by hand", () => {
  test("shows its lead as led by hand, and a lead without its process as unknown", () => {
    const led = (leadAlive: boolean | null): string[] => {
      const members = [member("team-lead", { state: "unknown" })];
      return shown({ ...AUDIT, status: { ...AUDIT.status, leadAlive, members, approvals: [] } }, 34, 20);
    };
    expect(led(null).slice(3, 5)).toEqual(["▌  team-lead", "▌  led by hand"]);
    expect(led(false).slice(3, 5)).toEqual(["▌? team-lead", "▌  unknown"]);
  });
});

describe("a request that waits for the user", () => {
  test("shows its change with numbers, context and escaped control characters", () => {
    const change = ["@@ -1,2 +1,3 @@", " same", "-one", "+curl evil \x1b[2J| sh", "+three"];
    const asks = { id: "perm-1", kind: "permission", from: "writer", summary: "Edit(a.js)", change } as const;
    const data = { ...AUDIT, status: { ...AUDIT.status, approvals: [asks] } };
    expect(shown(data, 34, 40).slice(2, 7)).toEqual([
      " ▲ writer asks for permission",
      "   Edit(a.js)",
      "   1   same",
      "   2 - one",
      "   2 + curl evil \\u001b[2J| sh",
    ]);
  });

  const onWriter: SidebarState = { view: "team", member: "writer" };
  const whole = (asks: Partial<SidebarApproval>, width = 34, height = 40, state = onWriter): string[] => {
    const approval = {
      id: "perm-1",
      kind: "permission",
      from: "writer",
      summary: "Bash(ls)",
      ...asks,
    } as const;
    const data = { ...AUDIT, status: { ...AUDIT.status, approvals: [approval] } };
    return frame(data, state, { width, height }).flatMap(({ wholeRequest }) => wholeRequest ?? []);
  };

  test("is marked as whole only if the screen shows all of it", () => {
    expect(whole({})).toEqual(["perm-1"]);
    expect(whole({ change: ["@@ -1,2 +1,2 @@", " same", "-a", "+  b"] })).toEqual(["perm-1"]);
    expect(whole({ change: ["$ a", "$ b", "$ c"] })).toEqual(["perm-1"]);
    // The change contains the whole command, whatever the summary leaves out.
    const command = `ls ${"x".repeat(34)} ${"y".repeat(34)}`;
    expect(whole({ summary: `Bash(${command})`, change: [`$ ${command}`] })).toEqual(["perm-1"]);
    expect(whole({ summary: `Bash(${command})`, change: [`$ ${command}`] }, 34, 11)).toEqual([]);
    expect(whole({ change: [`+ ${"x".repeat(40)}`] })).toEqual(["perm-1"]);
    expect(whole({ change: Array.from({ length: 30 }, (_, i) => `$ ${i}`) })).toEqual([]);
    expect(whole({ change: ["$ ls\ufe0f"] })).toEqual([]);
    expect(whole({ change: ["$ a"] }, 34, 11)).toEqual([]);
    expect(whole({ summary: `Edit(/x/${"d/".repeat(20)}a.ts)` })).toEqual([]);
    expect(whole({ summary: "Edit(/x/a.ts)" })).toEqual(["perm-1"]);
    expect(whole({ summary: `Bash(ls ${"x".repeat(34)} ${"y".repeat(34)})` })).toEqual([]);
    expect(whole({ summary: `Bash(ls ${"x".repeat(34)} ${"y".repeat(34)})` }, 120)).toEqual(["perm-1"]);
    expect(whole({ summary: "Bash(ls\nrm x)" })).toEqual([]);
    expect(whole({ summary: "Bash(ls\ufe0f)" })).toEqual([]);
    expect(whole({ summary: "Bash(rm a  b)" })).toEqual([]);
    expect(whole({ partial: true })).toEqual([]);
    expect(whole({ kind: "question", default: "yes" })).toEqual([]);
    expect(whole({ kind: "crash", summary: "x ".repeat(90) })).toEqual(["perm-1"]);
  });

  test("is not marked as whole if the screen ends before it, or shows the help", () => {
    expect(whole({}, 34, 3)).toEqual([]);
    expect(whole({}, 34, 40, press(onWriter, "help", AUDIT).state)).toEqual([]);
  });

  test("is not marked as whole if the cursor is on another member", () => {
    expect(whole({}, 34, 40, START)).toEqual([]);
    expect(whole({}, 34, 40, { view: "team", member: "history" })).toEqual([]);
  });

  test("ends with … if it is not whole, even without a row for its change", () => {
    const lastRow = (asks: Partial<SidebarApproval>, height: number): string => {
      const asked = {
        id: "perm-1",
        kind: "permission",
        from: "writer",
        summary: "Write(a.txt)",
        ...asks,
      } as const;
      const rows = shown({ ...AUDIT, status: { ...AUDIT.status, approvals: [asked] } }, 34, height);
      const after = rows.slice(rows.findIndex((row) => row.startsWith(" ▲ writer asks")) + 1);
      return after[after.findIndex((row) => !row.startsWith("   ")) - 1] ?? "";
    };
    const change = Array.from({ length: 20 }, (_, i) => `+line ${i}`);
    expect(lastRow({ change }, 40)).toMatch(/^ {3}… \d+ more lines$/);
    expect(lastRow({ change }, 11)).toBe("   Write(a.txt) …");
    expect(lastRow({ kind: "plan", summary: "Delete the old files", partial: true }, 40)).toBe(
      "   Delete the old files …",
    );
    expect(lastRow({ summary: `Bash(echo checking …; ${"rm x; ".repeat(20)})` }, 40)).toMatch(/…$/);
  });

  test("shows a notice with its command over several rows", () => {
    const notice = "see teams approvals perm-1718000000000-ab12cd3";
    const rows = shown(AUDIT, 34, 20, { view: "team", notice });
    expect([rows.length, ...rows.slice(-2)]).toEqual([
      20,
      " see teams approvals",
      " perm-1718000000000-ab12cd3",
    ]);
  });
});

test("a request that waits › appears once: its message to the lead is not among the messages", () => {
  const request = (fields: object) => ({
    ...{ from: "writer", to: "team-lead", at: 1 },
    text: JSON.stringify(fields),
  });
  const asked = { requestId: "q-1", question: "Which of the two?" };
  const messages = [
    request({ type: "permission_request", request_id: "perm-1", agent_id: "writer", tool_name: "Bash" }),
    request({ type: "plan_approval_request", ...asked, planContent: "Which of the two?" }),
    request({ type: "question_request", ...asked }),
    request({ type: "sandbox_permission_request", requestId: "net-1", host: "a.example" }),
    { from: "writer", to: "team-lead", text: "I have asked.", at: 2 },
  ];
  const rows = shown({ ...AUDIT, messages }, 34, 60);
  expect(rows.slice(rows.indexOf(" MESSAGES") + 1).filter((row) => row.includes(" → "))).toHaveLength(1);
  expect(rows).toContain("   I have asked.");
});

describe("a deadlock", () => {
  test("is shown above everything else, with its reason", () => {
    const deadlock = { kind: "cycle", tasks: ["1", "2"] } as const;
    const stuck = { ...AUDIT, status: { ...AUDIT.status, deadlock } };
    expect(shown(stuck, 34, 40).slice(2, 6)).toEqual([
      " ▲ no member can continue",
      "   #1 waits for #2, #2 for #1",
      "",
      " ▲ writer asks to approve its plan",
    ]);
    const alone = { ...stuck, status: { ...stuck.status, approvals: [] } };
    expect(shown(alone, 34, 40).slice(2, 6)).toEqual([
      " ▲ no member can continue",
      "   #1 waits for #2, #2 for #1",
      "",
      " MEMBERS                 2 working",
    ]);
  });
});

describe("the sidebar at 34 columns", () => {
  test("shows requests, members, tasks and the last messages", () => {
    expect(shown(AUDIT, 34, 40)).toEqual([
      " audit                27.6k tokens",
      "",
      " ▲ writer asks to approve its plan",
      "   Write AUDIT.md with the figures",
      "   of inventory and history, one…",
      "",
      " MEMBERS                 2 working",
      "▌○ team-lead                  8.2k",
      "▌  waiting for its team",
      " ● inventory           #3 ↓2 12.3k",
      "   Bash(git ls-files -z | xargs -…",
      " ● history                #4  6.1k",
      "   Grep(TODO|FIXME)",
      " ▲ writer                 #6   950",
      "   waits for approval",
      " ✗ 檢查員",
      "   killed by SIGKILL: Error: out…",
      "",
      " TASKS                      2 of 6",
      " ━━━━━━━━━━━━━━━━━━━━━━───────────",
      " ✓ 1 Inventory of files… inventory",
      " ✓ 2 Who touched what: ch… history",
      " ◐ 3 Largest files, and… inventory",
      " ◐ 4 Search for TODO and…  history",
      " ○ 5 Are there tests?…   inventory",
      " ◌ 6 Write AUDIT.md         writer",
      "",
      " MESSAGES",
      " team-lead → history         12:02",
      "   Churn of the last year only",
      " inventory → writer          12:03",
      "   The largest file is",
      "   src/engine.c with 4,212 lines…",
      " history → team-lead         12:04",
      "   completed #2 Who touched what:",
      "   churn from git",
      "",
      "",
      " n next request  ↵ go  m message",
      " d diff  l log  ? help  q close",
    ]);
  });

  test("shows the day of messages from other days, and the year of messages from other years", () => {
    const day = (year: number, month: number, date: number) => new Date(year, month, date, 9, 5).getTime();
    const from = (at: number) => ({ from: "history", to: "writer", text: "x", at });
    const messages = [from(day(2025, 11, 31)), from(day(2026, 0, 2)), from(day(2026, 0, 3))];
    const rows = shown({ ...AUDIT, messages, now: day(2026, 0, 3) }, 40, 60);
    expect(rows.filter((row) => row.includes("→ writer"))).toEqual([
      " history → writer            Dec 31 2025",
      " history → writer            Jan 2 09:05",
      " history → writer                  09:05",
    ]);
  });

  test("paints names in the members' colours, and urgent states in their own colours", () => {
    const lines = frame(AUDIT, START, { width: 34, height: 40 });
    const spanOf = (word: string) => lines.flatMap((line) => line.spans).find((span) => span.text === word);
    expect(spanOf(" inventory")).toMatchObject({ fg: memberColor("blue"), bold: true });
    expect(spanOf(" history")).toMatchObject({ fg: memberColor("green"), bold: true });
    expect(spanOf("▲")).toMatchObject({ fg: TONE.attention, blink: true });
    expect(spanOf("✗")).toMatchObject({ fg: TONE.bad });
  });
});

test("the sidebar at 20 columns and 24 rows keeps the most important rows", () => {
  const rows = shown(AUDIT, 20, 24);
  expect(rows).toContain(" ● inventory   #3 ↓2");
  expect(rows).toContain(" TASKS        2 of 6");
  expect(rows.slice(-2)).toEqual([" n next request", " ? help  q close"]);
  const onWriter = shown(AUDIT, 20, 24, { view: "team", member: "writer" });
  expect(onWriter.slice(-2)).toEqual([" a approve  r reject", " v view  q close"]);
});

test("a wide sidebar has members on the left, and tasks and messages on the right", () => {
  const rows = shown(AUDIT, 100, 40);
  expect(rows.find((row) => row.includes("MEMBERS"))).toMatch(/ MEMBERS +2 working │ +TASKS +2 of 6$/);
  expect(rows.some((row) => row.includes("│    The largest file is src/engine.c with 4,212 lines 🎉"))).toBe(
    true,
  );
});

test("frame always returns the requested number of rows, none wider than requested", () => {
  const views: SidebarState["view"][] = ["team", "tasks", "graph"];
  const data = fc.record({
    name: fc.string({ unit: "grapheme" }),
    activity: fc.string({ unit: "binary" }),
    state: fc.constantFrom(...AGENT_STATES),
  });
  fc.assert(
    fc.property(
      fc.nat(140),
      fc.nat(60),
      fc.constantFrom(...views),
      fc.array(data, { maxLength: 12 }),
      (width, height, view, members) => {
        const status = { ...AUDIT.status, members: members.map((m) => member(m.name, m)) };
        const lines = frame({ ...AUDIT, status }, { view }, { width, height });
        expect(lines).toHaveLength(height);
        for (const line of lines) {
          const row = line.spans.map((span) => span.text).join("");
          expect(displayWidth(row)).toBeLessThanOrEqual(width);
          expect(row).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
        }
      },
    ),
  );
});

describe("more members than the sidebar has rows", () => {
  test("use one row each if two do not fit", () => {
    const rows = shown(withMembers(12), 34, 24);
    expect(rows.filter((row) => row.includes("agent-"))).toHaveLength(12);
  });

  test("are shown around the selected member, with the number of hidden members", () => {
    const rows = shown(withMembers(64), 34, 24, { view: "team", member: "agent-40" });
    expect(rows.find((row) => row.includes("agent-40"))).toMatch(/^▌/);
    expect(rows.find((row) => row.includes("more"))).toMatch(/↑ \d+ {2}↓ \d+ more/);
  });
});

describe("tasks in the sidebar", () => {
  test("have a bar that shows completed and started tasks", () => {
    const bar = frame(AUDIT, START, { width: 31, height: 40 }).find((line) => text(line).includes("━"));
    expect(bar?.spans.map((span) => [span.fg, span.text.length])).toEqual([
      [undefined, 1],
      [TONE.good, 10],
      [TONE.busy, 10],
      [TONE.faint, 10],
    ]);
  });

  test("list started tasks before completed tasks in a low window", () => {
    const rows = shown({ ...AUDIT, messages: [], status: { ...AUDIT.status, approvals: [] } }, 34, 19);
    expect(rows.filter((row) => /^ . \d /.test(row))).toEqual([
      " ◐ 3 Largest files, and… inventory",
      " ◐ 4 Search for TODO and…  history",
    ]);
  });

  test("are all listed after t, with the blockers of the selected task", () => {
    const rows = shown(AUDIT, 34, 40, { view: "tasks", task: "6" });
    expect(rows).toContain("▌◌ 6 Write AUDIT.md         writer");
    expect(rows).toContain("▌    after #3 #4 #5");
  });

  test("are shown around the selected task if they do not fit, with the number of hidden tasks", () => {
    const list = Array.from({ length: 40 }, (_, i) => task(i + 1, `part ${i + 1}`));
    const data = { ...AUDIT, status: { ...AUDIT.status, tasks: { list }, approvals: [] } };
    for (const selected of ["1", "20", "40"]) {
      const rows = shown(data, 34, 20, { view: "tasks", task: selected });
      expect(rows).toHaveLength(20);
      expect(rows.find((row) => row.startsWith("▌"))).toContain(` ${selected} part ${selected}`);
      const seen = rows.filter((row) => /part \d+$/.test(row)).length;
      const hidden = rows.find((row) => row.endsWith("more"))?.match(/\d+/g) ?? [];
      expect(hidden.reduce((sum, count) => sum + Number(count), seen)).toBe(40);
      expect(rows.at(-1)).toContain("close");
    }
  });

  test("have one mark for the reported state and one for the verified state, if a task has a verify command", () => {
    const list = [
      task(1, "first", { status: "completed", said: true, shown: "passed", owner: "writer" }),
      task(2, "second", { status: "in_progress", said: true, shown: "failed", owner: "writer" }),
      task(3, "third", { status: "completed", said: true, shown: "none" }),
      task(4, "fourth", { said: false, shown: "not run" }),
    ];
    const data = { ...AUDIT, status: { ...AUDIT.status, tasks: { list }, approvals: [] } };
    const rows = shown(data, 34, 40, { view: "tasks", task: "2" }).slice(4, 10);
    expect(rows).toEqual([
      " ✓ 1 ✓✓ first               writer",
      "▌◐ 2 ✓✗ second              writer",
      "▌       in progress",
      "▌       said: done, shown: failed",
      " ✓ 3 ✓  third",
      " ○ 4 ·· fourth",
    ]);
  });

  test("are not blocked by an unknown task", () => {
    const list = [task(1, "free", { blockedBy: ["99"] })];
    const rows = shown({ ...AUDIT, status: { ...AUDIT.status, tasks: { list } } }, 34, 40);
    expect(rows).toContain(" ○ 1 free");
  });
});

test("frame draws an empty team", () => {
  const empty = { team: "", members: [], tasks: { list: [] }, approvals: [] };
  expect(shown({ status: empty, messages: [] }, 34, 12)).toContain(" TASKS                        none");
});

test("a notice replaces the sidebar's key hints", () => {
  const rows = shown(AUDIT, 34, 40, { view: "team", notice: "The pane of history is gone." });
  expect(rows.at(-1)).toBe(" The pane of history is gone.");
});

test("the sidebar's help lists every key, and the signs", () => {
  const rows = shown(AUDIT, 34, 120, press(START, "help", AUDIT).state);
  for (const { label, does } of KEYS) expect(rows).toContain(` ${label.padEnd(6)}${does}`);
  expect(rows).toContain(" ✗     crashed");
});

test("the ids of blockers in the sidebar cannot control the terminal", () => {
  // Another program wrote the file of the task.
  const list = [task(1, "first"), task(2, "second", { blockedBy: ["1", "\x1b]0;owned\x07\x1b[2J7"] })];
  const status = { ...AUDIT.status, tasks: { list }, approvals: [] };
  const rows = shown({ ...AUDIT, status }, 34, 40, { view: "tasks", task: "2" });
  expect(rows).toContain("▌    after #1 #7");
});

test("text of members and messages in the sidebar cannot control the terminal", () => {
  const evil = "\x1b]0;owned\x07\x1b[2Jhi";
  const status = { ...AUDIT.status, members: [member("m", { state: "running", activity: evil })] };
  const messages = [{ from: evil, to: "m", text: evil, at: 0 }];
  const rows = shown({ status: { ...status, team: evil }, messages }, 34, 40);
  expect(rows[0]).toBe(" hi");
  expect(rows).toContain("   hi");
  expect(rows.join("")).not.toMatch(/owned/);
});

test("the prompt for an answer says what Enter does to a question and to a crash", () => {
  const asked = { kind: "answer", id: "p", from: "writer", summary: "Which?", text: "" } as const;
  const lines = (more: { verdict: "yes" | "no"; asks: "question" | "crash" }): readonly string[] =>
    shown(AUDIT, 34, 40, { view: "team", prompt: { ...asked, ...more } }).slice(-2);
  expect(lines({ verdict: "yes", asks: "question" })).toEqual([
    " ↵ sends · Esc cancels",
    " answer writer: ▏",
  ]);
  expect(lines({ verdict: "no", asks: "question" })).toEqual([
    " ↵ sends · Esc cancels · or a note",
    " reject writer: ▏",
  ]);
  expect(lines({ verdict: "yes", asks: "crash" })).toEqual([
    " ↵ restarts it · Esc cancels",
    " restart writer: ▏",
  ]);
  expect(lines({ verdict: "no", asks: "crash" })).toEqual([
    " ↵ removes it · Esc cancels",
    " remove writer: ▏",
  ]);
});

test("a notice is above the line being typed", () => {
  const prompt = { kind: "message", to: "writer", text: "", sent: [], at: 0 } as const;
  const notice = "writer is not running; the message waits for its restart";
  expect(shown(AUDIT, 34, 40, { view: "team", prompt, notice }).slice(-4)).toEqual([
    " writer is not running; the",
    " message waits for its restart",
    " ↵ sends · Esc ends · ↑ earlier",
    " to writer: ▏",
  ]);
  const [row, line] = shown(AUDIT, 34, 9, { view: "team", prompt, notice }).slice(-2);
  expect(row).toMatch(/^ writer is not running; the mess.*…$/);
  expect(line).toMatch(/^ to writer: ▏/);
});

test("an answer being typed names its request and keys above, and shows the end of a long note", () => {
  const asked = { id: "p", from: "writer", summary: "Bash(ls)" };
  const prompt = { kind: "answer", ...asked, verdict: "yes", text: "mind the tests" } as const;
  expect(shown(AUDIT, 34, 40, { view: "team", prompt }).slice(-3)).toEqual([
    " Bash(ls)",
    " ↵ sends · Esc cancels · or a note",
    " approve writer: mind the tests▏",
  ]);
  const back = { ...prompt, afterCursor: 5 };
  expect(shown(AUDIT, 34, 40, { view: "team", prompt: back }).at(-1)).toBe(
    " approve writer: mind the ▏tests",
  );
  const lines = { ...prompt, text: "one\ntwo" };
  expect(shown(AUDIT, 34, 40, { view: "team", prompt: lines }).at(-1)).toBe(" approve writer: one ⏎ two▏");
  const long = { ...prompt, verdict: "no", text: `檢${"x".repeat(60)}end` } as const;
  const row = shown(AUDIT, 34, 40, { view: "team", prompt: long }).at(-1) ?? "";
  expect(row).toMatch(/^ reject writer: x+end▏$/);
  expect(row.length).toBeLessThanOrEqual(34);
});

test("the messages › show at least the beginning of the newest message, or no title", () => {
  const one = { ...withMembers(1), messages: AUDIT.messages.slice(-1) };
  const rows = Array.from({ length: 20 }, (_, i) => shown(one, 34, i + 6));
  const titles = rows.map((lines) => lines.indexOf(" MESSAGES"));
  const first = titles.findIndex((at) => at >= 0);
  // Half of the seven rows that the team's name, the footer and the member leave.
  expect(first + 6).toBe(12);
  for (const [i, at] of titles.entries()) {
    expect(at >= 0, `with ${i + 6} rows`).toBe(i >= first);
    // A message has a row for its names and at least one for its text.
    if (at >= 0) expect(rows[i]?.slice(at + 1, at + 3).every((row) => row.trim() !== "")).toBe(true);
  }
});
