import { expect, test } from "vitest";
import type { AgentEvent } from "../../../../src/agent/events.ts";
import { liveRegion } from "../../../../src/terminal/live/live-region.ts";
import { createPaneView } from "../../../../src/terminal/pane/pane-view.ts";
import type { PermissionPrompt } from "../../../../src/worker/view.ts";
import { screen } from "../../../support/terminal/screen.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { stopSteadyClock } from "../../../support/timing/steady-clock.ts";

const CWD = "/home/me/project";

/** Creates a live pane with its input line, in which no time passes. */
function livePane({ width = 60, height = 24 } = {}) {
  stopSteadyClock();
  const shown = screen();
  const size = { width, height };
  let draws = 0;
  const how = { width: () => size.width, height: () => size.height, plain: true };
  const region = liveRegion({
    ...how,
    apart: true,
    out(text) {
      draws += 1;
      shown.write(text);
    },
  });
  region.openInput();
  const view = createPaneView({ write: region.write, region, name: "ann", cwd: CWD, ...how });
  return {
    view,
    region,
    size,
    /** Draws the pending frame, and returns the rows of the screen. */
    rows(): readonly string[] {
      region.together(() => region.changed());
      return shown.rows();
    },
    /** Returns the number of draws that these calls cause. */
    draws(act: () => void): number {
      const before = draws;
      act();
      return draws - before;
    },
  };
}

const TURN: AgentEvent = { type: "turn_started", input: "" };
const MESSAGE: AgentEvent = { type: "message", message: { role: "assistant", content: [] } };

function call(id: string, summary: string, tool = "Bash"): AgentEvent {
  return { type: "tool_started", id, tool, summary };
}

function result(id: string, content: string, tool = "Bash"): AgentEvent {
  return { type: "tool_ended", id, tool, content, isError: false, ms: 1 };
}

function ask(more: Partial<PermissionPrompt> = {}): PermissionPrompt {
  const change = ["@@ -1,1 +1,1 @@", "-one", "+two"];
  const what = { tool: "Edit", summary: `${CWD}/src/a.ts`, path: `${CWD}/src/a.ts`, change };
  return { id: "perm-1", call: "1", reason: "No rule allows it.", rules: [], ...what, ...more };
}

function decided(allowed: boolean, reason?: string, id = "1"): AgentEvent {
  const how = { id, tool: "Edit", allowed, asked: true };
  return { type: "permission_decided", ...how, ...(reason === undefined ? {} : { reason }) };
}

test("a live pane › keeps a block in its place when it is complete", () => {
  const { view, rows } = livePane();
  view.typed("go");
  view.event(TURN);
  view.event({ type: "text", text: "First a" });
  expect(rows()).toEqual(["› go", "", "First a", "", "● Writing · 0 s · Esc interrupts", "›"]);
  view.event({ type: "text", text: " paragraph.\n\n- it" });
  expect(rows().slice(0, 5)).toEqual(["› go", "", "First a paragraph.", "", "• it"]);
  view.event({ type: "text", text: "em" });
  view.event(MESSAGE);
  expect(rows().slice(0, 5)).toEqual(["› go", "", "First a paragraph.", "", "• item"]);
});

test("a live pane › draws a result, the end of its call and the next activity at once", () => {
  const { view, rows, draws } = livePane();
  view.event(TURN);
  view.event(call("1", "npm test"));
  view.event({ type: "tool_output", id: "1", tail: "one\n" });
  rows();
  expect(draws(() => view.event(result("1", "one\ntwo\nthree")))).toBe(1);
  expect(rows()).toEqual([
    "● Bash(npm test)",
    "  ⎿ one",
    "    two",
    "    three",
    "",
    "● Thinking · 0 s · Esc interrupts",
    "›",
  ]);
});

test("a live pane › shows the tokens of its turn in the row of the running call", () => {
  const { view, rows } = livePane();
  const usage = { input: 0, output: 1_200, cacheRead: 0, cacheWrite: 0 };
  view.event(TURN);
  view.event({ type: "spent", usage, costUsd: 0 });
  view.event(call("1", "npm test"));
  expect(rows()).toContain("● Bash npm test · 0 s · 1.2k tokens · Esc interrupts");
});

test("a live pane › has a row for each of several running calls, and says how many more there are", () => {
  const { view, rows } = livePane();
  view.event(TURN);
  view.event({ type: "tool_started", id: "1", tool: "Read", summary: `${CWD}/a.ts`, path: `${CWD}/a.ts` });
  view.event(call("2", "npm test"));
  view.event({ type: "tool_output", id: "2", tail: "ok 1\nok 2\n" });
  expect(rows()).toEqual(["  Read a.ts", "  Bash npm test · ok 2", "● 2 calls · 0 s · Esc interrupts", "›"]);
  for (const id of ["3", "4", "5"]) view.event(call(id, `ls ${id}`));
  expect(rows().slice(0, 4)).toEqual([
    "  Read a.ts",
    "  Bash npm test · ok 2",
    "  Bash ls 3",
    "  … 2 more calls",
  ]);
});

test("a live pane › shows a subagent's last actions above its running call, and not as output", () => {
  const { view, rows } = livePane();
  const act = (what: string): void =>
    view.event({ type: "subagent", what: "look around", action: `Read(${CWD}/src/${what}.ts)` });
  view.event(TURN);
  view.event(call("1", "look around", "Agent"));
  for (const what of ["a", "b", "c", "d"]) act(what);
  expect(rows()).toEqual([
    "  Read(src/b.ts)",
    "  Read(src/c.ts)",
    "  Read(src/d.ts)",
    "● Agent look around · 0 s · Esc interrupts",
    "›",
  ]);
  view.event(result("1", "Nothing.", "Agent"));
  expect(rows().slice(0, 2)).toEqual(["● Agent(look around)", "  ⎿ Nothing."]);
  // A subagent in the background has no running call.
  act("e");
  expect(rows().join("\n")).toContain("· look around: Read(");
});

test("a live pane › cuts running calls and actions to its width", () => {
  const { view, rows } = livePane({ width: 30 });
  const long = "npm run a-very-long-script --with=many --options";
  view.event(TURN);
  view.event(call("1", "look around", "Agent"));
  view.event({ type: "subagent", what: "look around", action: `Bash(${long})` });
  expect(rows()[0]).toBe("  Bash(npm run a-very-long-s…");
  view.event(call("2", long));
  view.event({ type: "tool_output", id: "2", tail: `${long}\n` });
  for (const row of rows()) expect(row.length).toBeLessThan(30);
});

test("a live pane › shows only the output of a running call while another call of its tool waits for permission", () => {
  const { view, rows } = livePane();
  view.event(TURN);
  view.event(call("1", "npm test"));
  view.event({ type: "permission_asked", id: "1", tool: "Bash", summary: "npm test" });
  view.event(call("2", "ls"));
  view.event({ type: "permission_decided", id: "2", tool: "Bash", allowed: true, asked: false });
  view.event({ type: "tool_output", id: "2", tail: "a.ts\n" });
  expect(rows()).toEqual(["  a.ts", "● 2 calls · 0 s · Esc interrupts", "›"]);
});

test("a live pane › shows a user's own command while the agent is idle, and no activity row afterwards", () => {
  const { view, rows } = livePane();
  view.event(call("shell-1", "sleep 3", "!"));
  view.event({ type: "tool_output", id: "shell-1", tail: "one\n" });
  expect(rows()).toEqual(["  one", "● ! sleep 3 · 0 s · Esc interrupts", "›"]);
  view.event(result("shell-1", "one", "!"));
  expect(rows()).toEqual(["● !(sleep 3)", "  ⎿ one", "", "›"]);
});

test("a live pane › leaves no rows of a request that is allowed: its call shows the change", () => {
  const { view, rows } = livePane();
  view.event(TURN);
  view.event(call("1", "src/a.ts", "Edit"));
  expect(view.permission(ask())).toBe(true);
  view.note("scout joined");
  expect(rows().slice(0, 6)).toEqual([
    "· scout joined",
    "",
    "▲ Allow this edit? src/a.ts",
    "  1 - one",
    "  1 + two",
    "  No rule allows it.",
  ]);
  view.permissionClosed();
  view.event(decided(true));
  view.event({ ...result("1", "1 line changed", "Edit"), change: ask().change } as AgentEvent);
  expect(rows().slice(0, -3)).toEqual([
    "· scout joined",
    "",
    "✓ Edit allowed when asked",
    "● Edit(src/a.ts)",
    "  ⎿ 1 line changed",
    "    1 - one",
    "    1 + two",
  ]);
});

test("a live pane › keeps a subagent's request, whose call it does not show", () => {
  const { view, rows } = livePane();
  view.event(TURN);
  view.permission(ask({ subagent: "look around" }));
  view.permissionClosed();
  view.event(decided(true));
  expect(rows().slice(0, 5)).toEqual([
    "▲ look around: Allow this edit? src/a.ts",
    "  1 - one",
    "  1 + two",
    "  No rule allows it.",
    "",
  ]);
  expect(rows()[5]).toBe("✓ Edit allowed when asked");
});

test("a live pane › keeps the keys of a background subagent's request when its agent's turn ends", async () => {
  const { view, rows } = livePane();
  view.event(TURN);
  view.permission(ask({ subagent: "look around" }));
  await eventually("the keys of the request", () => rows().at(-2)?.startsWith("y yes"));
  view.event({ type: "turn_ended", outcome: "completed" });
  expect(rows().at(-2)).toMatch(/^y yes/);
  view.permissionClosed();
  expect(rows()).toEqual(["›"]);
});

test("a live pane › keeps the change of a refused request, and says its reason once", () => {
  const { view, rows } = livePane();
  view.event(TURN);
  view.permission(ask());
  // The next request is shown before the first call is decided.
  view.permission(ask({ id: "perm-2", call: "2", tool: "Write", change: ["+new"] }));
  view.event(decided(false, "No rule allows it."));
  expect(rows().slice(0, 9)).toEqual([
    "▲ Allow this edit? src/a.ts",
    "  1 - one",
    "  1 + two",
    "  No rule allows it.",
    "✗ Edit refused",
    "",
    "▲ Allow this write? src/a.ts",
    "  + new",
    "  No rule allows it.",
  ]);
  view.permission(ask({ id: "perm-3", call: "3" }));
  view.permissionClosed();
  view.event(decided(false, "use b.ts", "3"));
  expect(rows()).toContain("✗ Edit refused: use b.ts");
});

test("a live pane › keeps the refused request of two requests for a tool, whichever is decided first", () => {
  const { view, rows } = livePane();
  view.event(TURN);
  view.permission(ask());
  view.permission(ask({ id: "perm-2", call: "2", change: ["@@ -1,1 +1,1 @@", "-three", "+four"] }));
  view.permissionClosed();
  view.event(decided(false, "No rule allows it.", "2"));
  view.event(decided(true));
  expect(rows().slice(0, 5)).toEqual([
    "▲ Allow this edit? src/a.ts",
    "  1 - three",
    "  1 + four",
    "  No rule allows it.",
    "✗ Edit refused",
  ]);
  expect(rows().join("\n")).not.toContain("one");
});

test("a live pane › does not take a call of its agent for the call that a subagent asks about", () => {
  const { view, rows } = livePane();
  view.event(TURN);
  view.event(call("1", "npm test"));
  view.event({ type: "permission_asked", id: "sub-1", tool: "Bash", summary: "ls" });
  view.event({ type: "tool_output", id: "1", tail: "ok 1\n" });
  expect(rows()[0]).toBe("  ok 1");
});

test.each([
  [40, 10],
  [80, 24],
])("a live pane of %i×%i › uses all rows for a request that does not fit", (width, height) => {
  const { view, rows } = livePane({ width, height });
  const change = ["@@ -0,0 +1,40 @@", ...Array.from({ length: 40 }, (_, i) => `+line ${i + 1}`)];
  expect(view.permission(ask({ change }))).toBe(false);
  const shown = rows();
  expect(shown[0]).toBe("▲ Allow this edit? src/a.ts");
  expect(shown.at(-3)).toMatch(/^ {2}… \d+ more lines$/);
  expect(shown.length).toBe(height - 1);
  // With `whole`, the whole change is output, even rows that the terminal has no room for.
  expect(view.permission(ask({ change, whole: true }))).toBe(true);
  expect(rows()).toContain("  40 + line 40");
  view.permissionClosed();
  view.event(decided(true));
  expect(rows()).toContain("  40 + line 40");
});

test("a live pane › shows the open request again after its output was cleared and replayed", () => {
  const { view, rows } = livePane({ height: 10 });
  const change = ["@@ -0,0 +1,20 @@", ...Array.from({ length: 20 }, (_, i) => `+line ${i + 1}`)];
  view.permission(ask({ change }));
  view.permission(ask({ change, whole: true }));
  const count = (): number => rows().filter((row) => row.includes("+ line 20")).length;
  expect(count()).toBe(1);
  view.replay((shown) => shown.typed("go"));
  expect(count()).toBe(2);
});

test("a live pane › continues its text after the conversation was replayed", () => {
  const { view, rows } = livePane();
  view.event(TURN);
  view.event({ type: "text", text: "Two is " });
  view.replay((shown) => {
    shown.event({ type: "text", text: "One." });
    shown.event(MESSAGE);
  });
  expect(rows().slice(0, 3)).toEqual(["One.", "", "Two is"]);
  view.event({ type: "text", text: "long." });
  view.event(MESSAGE);
  expect(rows().slice(0, 3)).toEqual(["One.", "", "Two is long."]);
});

test("a live pane › still shows a queued line after earlier output with the same line was replayed", () => {
  const { view, rows } = livePane();
  view.queued("you", "go on");
  view.replay((shown) => shown.typed("go on"));
  expect(rows()).toEqual(["› go on", "", "› go on  (queued)", "›"]);
});

test("a live pane › lays a request out again only for another size", () => {
  const { view, region, size } = livePane();
  let reads = 0;
  const change = ["@@ -1,1 +1,1 @@", "-one", "+two"];
  const counted = new Proxy(change, {
    get(target, key, receiver) {
      reads += 1;
      return Reflect.get(target, key, receiver);
    },
  });
  view.permission(ask({ change: counted }));
  region.changed();
  const before = reads;
  region.changed();
  region.changed();
  expect(reads).toBe(before);
  size.width = 50;
  region.changed();
  expect(reads).toBeGreaterThan(before);
});

test("a live pane › names a rule's file relative to the working directory, in the form of a rule", () => {
  const { view, rows } = livePane({ width: 50, height: 40 });
  const rules = [`Edit(/${CWD}/src/a.ts)`, `Edit(/${CWD}/b.ts)`, "Edit(//etc/hosts)", `Edit(/${CWD}/~/c)`];
  view.permission(ask({ rules }));
  expect(rows().join(" ").replace(/ +/g, " ")).toContain(
    "always: Edit(src/a.ts), Edit(./b.ts), Edit(//etc/hosts), Edit(./~/c)",
  );
});

test("a live pane › escapes a hidden character in a rule", () => {
  const { view, rows } = livePane();
  view.permission(ask({ rules: [`Edit(/${CWD}/src/a\u200b.ts)`] }));
  view.explain();
  expect(rows().join(" ")).toContain("Edit(src/a\\u200b.ts)");
});

test("a live pane › leaves out a note that its input line already shows", () => {
  const { view, rows } = livePane();
  view.leaveOut("permission mode is now plan");
  for (const mode of ["default", "plan", "plan"]) view.note(`permission mode is now ${mode}`);
  const shown = ["· permission mode is now default", "· permission mode is now plan"];
  expect(rows().filter((row) => row.startsWith("·"))).toEqual(shown);
});

test("a live pane › shows another agent's message as Markdown, and a long message in full on demand", () => {
  const { view, rows } = livePane();
  const list = Array.from({ length: 20 }, (_, i) => `- point ${i + 1}`).join("\n");
  view.received("ada", `The **offset** is fixed.\n\n${list}`);
  expect(rows().slice(0, 5)).toEqual(["◂ ada", "  The offset is fixed.", "", "  • point 1", "  • point 2"]);
  expect(rows()).toContain("  … 10 more lines · ctrl+o");
  view.expand();
  expect(rows()).toContain("message from ada");
  expect(rows()).toContain("    • point 20");
});

test.each([
  [10, ["▌ ann", "▌ team crew · m-1", "▌ /help"]],
  [
    24,
    ["▌ ann", "▌ team crew · general-purpose · m-1", `▌ ${CWD}`, "▌ type a line · /help · Esc interrupts it"],
  ],
])("a live pane of %i rows › has a header that leaves room", (height, expected) => {
  const { view, rows } = livePane({ width: 44, height });
  const hint = "type a line · /help · Esc interrupts it";
  view.header({ team: "crew", agentType: "general-purpose", model: "m-1", cwd: CWD, hint });
  expect(rows().slice(0, expected.length)).toEqual(expected);
});

test("a live pane › shows a long command in full on demand, even with a short result", () => {
  const { view, rows } = livePane({ width: 40 });
  view.event(call("1", `echo ${"long ".repeat(12)}end`));
  view.event(result("1", "done"));
  expect(rows()[0]).toMatch(/^● Bash\(echo long.*…\)$/);
  view.expand();
  expect(rows().slice(-5)).toEqual([
    "Bash(echo long long long long long long",
    "long long long long long long end)",
    "    done",
    "",
    "›",
  ]);
});

test("a live pane › shows a result with a long line in full on demand", () => {
  const { view, rows } = livePane({ width: 40 });
  view.event(call("1", "cat a"));
  view.event(result("1", `${"long ".repeat(12)}end`));
  expect(rows()[1]).toMatch(/^ {2}⎿ long.*…$/);
  view.expand();
  expect(rows().slice(-5)).toEqual([
    "Bash(cat a)",
    "    long long long long long long long",
    "    long long long long long end",
    "",
    "›",
  ]);
});

test("a live pane › names the key that shows the rest of a long change", () => {
  const { view, rows } = livePane({ height: 60 });
  const change = ["@@ -0,0 +1,30 @@", ...Array.from({ length: 30 }, (_, i) => `+line ${i + 1}`)];
  view.event(call("1", "src/a.ts", "Write"));
  view.event({ ...result("1", "30 lines written", "Write"), change } as AgentEvent);
  expect(rows()).toContain("    … 14 more lines · ctrl+o");
  view.expand();
  expect(rows()).toContain("    30 + line 30");
});
