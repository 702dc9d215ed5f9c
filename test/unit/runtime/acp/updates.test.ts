import { describe, expect, it } from "vitest";
import type { SessionFact } from "../../../../src/runtime/acp/facts.ts";
import { updateOf } from "../../../../src/runtime/acp/updates.ts";
import type { Task } from "../../../../src/schema/task.ts";

const shown = (fact: SessionFact, hasNotices = false) => updateOf(fact, { cwd: "/repo", hasNotices });
const call = (tool: string, summary: string, input: unknown, member = "ada") =>
  shown({ kind: "call", id: `${member}/t1`, member, tool, summary, input });
const taskOf = (id: number, status: Task["status"], more: Partial<Task> = {}): Task => ({
  ...{ id: String(id), subject: `task ${id}`, description: "", status, blocks: [], blockedBy: [] },
  ...more,
});

describe("updates of a session", () => {
  it("show a teammate's edit with its name, kind, location and diff", () => {
    const input = { file_path: "src/a.ts", old_string: "one", new_string: "two" };
    expect(call("Edit", "src/a.ts", input)).toMatchObject({
      sessionUpdate: "tool_call",
      toolCallId: "ada/t1",
      title: "ada: Edit src/a.ts",
      name: "Edit",
      kind: "edit",
      status: "in_progress",
      locations: [{ path: "/repo/src/a.ts" }],
      content: [{ type: "diff", path: "/repo/src/a.ts", oldText: "one", newText: "two" }],
      rawInput: input,
      _meta: { teams: { member: "ada" } },
    });
  });

  it("show a new file as a diff without an old text", () => {
    const update = call("Write", "/x/b", { file_path: "/x/b", content: "b\n" });
    expect(update).toMatchObject({
      content: [{ type: "diff", path: "/x/b", oldText: null, newText: "b\n" }],
    });
  });

  it("show the lead's calls without its name, and unknown tools as other", () => {
    expect(call("Bash", "npm test", { command: "npm test" }, "team-lead")).toMatchObject({
      title: "Bash npm test",
      kind: "execute",
      locations: [],
      content: [],
    });
    expect(call("mcp__x__y", "", {})).toMatchObject({ title: "ada: mcp__x__y", kind: "other" });
  });

  it("leave out an input and a diff that are too long", () => {
    const update = call("Write", "/x", { file_path: "/x", content: "x".repeat(60_000) });
    expect(update).toMatchObject({ content: [] });
    expect(update).not.toHaveProperty("rawInput");
  });

  it("cut a long result, and keep the diff of a change", () => {
    const result = (content: string, isChange: boolean) =>
      shown({ kind: "result", id: "ada/t1", content, isError: false, isChange });
    expect(JSON.stringify(result("x".repeat(100_000), false)).length).toBeLessThan(21_000);
    expect(result("written", true)).not.toHaveProperty("content");
  });

  it("remove control characters from titles, texts and results", () => {
    const hostile = "\u001b]0;own\u0007a\u001b[2Jb\u202e";
    const all = [
      call("Bash", hostile, {}),
      shown({ kind: "text", text: hostile, message: "m" }),
      shown({ kind: "thought", text: hostile }),
      shown({ kind: "result", id: "x", content: hostile, isError: true, isChange: false }),
      shown({ kind: "notice", severity: "error", text: hostile }),
      shown({ kind: "tasks", tasks: [taskOf(1, "pending", { subject: hostile })] }),
    ];
    for (const update of all) expect(JSON.stringify(update)).not.toMatch(/\\u001b|\\u0007|\u202e|own/);
  });

  it("replace a lone surrogate in each text", () => {
    const half = "a\ud83d";
    for (const fact of [
      { kind: "text", text: half, message: "m" },
      { kind: "thought", text: half },
      { kind: "prompt", text: half },
    ] as const)
      expect(shown(fact)).toMatchObject({ content: { text: "a\ufffd" } });
  });

  it("show the task list as a plan, and only the open tasks of a long list", () => {
    const tasks = [taskOf(1, "completed"), taskOf(2, "in_progress", { owner: "ada" })];
    expect(shown({ kind: "tasks", tasks })).toEqual({
      sessionUpdate: "plan",
      entries: [
        { content: "#1 task 1", priority: "medium", status: "completed" },
        { content: "#2 task 2 (ada)", priority: "medium", status: "in_progress" },
      ],
    });
    const many = Array.from({ length: 300 }, (_, i) => taskOf(i + 1, i < 150 ? "completed" : "pending"));
    const plan = shown({ kind: "tasks", tasks: many });
    expect(plan).toMatchObject({ entries: { length: 150 } });
  });

  it("show notices only to a client that supports them", () => {
    const fact = { kind: "notice", severity: "error", text: "ada crashed" } as const;
    expect(shown(fact, true)).toEqual({ sessionUpdate: "notice", severity: "error", title: "ada crashed" });
    expect(shown(fact)).toMatchObject({ sessionUpdate: "agent_message_chunk" });
    expect(shown({ ...fact, severity: "info" })).toMatchObject({ sessionUpdate: "agent_thought_chunk" });
  });
});
