import { describe, expect, it } from "vitest";
import { isRunOver, type RunState } from "../../../../src/operations/run/run-state.ts";
import { summarize } from "../../../../src/operations/status.ts";
import type { Task } from "../../../../src/schema/task.ts";

describe("a run whose lead has nothing left to do", () => {
  const rest: RunState = { teamExists: true, busy: 0, unsettled: 0, onTheWay: 0, interrupted: 0 };

  it.each<[string, RunState, boolean]>([
    ["is over when nobody works and nothing is on its way", rest, true],
    ["goes on while a teammate works", { ...rest, busy: 1 }, false],
    ["goes on while somebody's end is not told yet", { ...rest, unsettled: 1 }, false],
    ["goes on while a message to the lead is on its way", { ...rest, onTheWay: 1 }, false],
    ["is over when the lead has deleted its team", { ...rest, teamExists: false }, true],
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

describe("the summary of tasks", () => {
  it("counts by state, and of the pending ones those that still wait for another", () => {
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
