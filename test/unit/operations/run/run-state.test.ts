import { describe, expect, it } from "vitest";
import { isRunOver, type RunState } from "../../../../src/operations/run/run-state.ts";
import { summarize } from "../../../../src/operations/status.ts";
import type { Task } from "../../../../src/schema/task.ts";

describe("isRunOver, when the lead is idle", () => {
  const quiet: RunState = { teamExists: true, busy: 0, unprocessedEnds: 0, unseenByLead: 0, interrupted: 0 };

  it.each<[string, RunState, boolean]>([
    ["is true if no teammate works and no message is under way", quiet, true],
    ["is false while a teammate works", { ...quiet, busy: 1 }, false],
    ["is false while an ending is not reported yet", { ...quiet, unprocessedEnds: 1 }, false],
    ["is false while a message to the lead is under way", { ...quiet, unseenByLead: 1 }, false],
    ["is true if the lead has deleted its team", { ...quiet, teamExists: false }, true],
  ])("%s", (_title, facts, over) => {
    expect(isRunOver(facts)).toBe(over);
  });
});

const task = (id: string, status: Task["status"], blockedBy: string[] = []): Task => ({
  id,
  subject: id,
  description: "",
  status,
  blocks: [],
  blockedBy,
});

describe("summarize", () => {
  it("counts tasks by status, and pending tasks that are blocked", () => {
    const list = [
      task("1", "completed"),
      task("2", "in_progress", ["1"]),
      task("3", "pending", ["1"]),
      task("4", "pending", ["1", "2"]),
      task("5", "pending", ["99"]),
    ];
    expect(summarize(list)).toEqual({ pending: 3, inProgress: 1, completed: 1, blocked: 1, list });
  });
});
