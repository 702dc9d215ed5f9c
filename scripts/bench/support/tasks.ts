import { writeFileSync } from "node:fs";
import { formatJson } from "../../../src/os/files/atomic-write.ts";
import type { Task } from "../../../src/schema/task.ts";
import type { TeamRef } from "../../../src/team/ref.ts";

/** Writes the task list of a team; the first `done` tasks are completed. */
export function writeTasks(ref: TeamRef, count: number, { done = 0 } = {}): void {
  for (let id = 1; id <= count; id += 1) {
    const task: Task = {
      id: `${id}`,
      subject: `Look at part ${id}`,
      description: "Read it, write down what is wrong with it, and what you would do about it.",
      status: id <= done ? "completed" : "pending",
      blocks: [],
      blockedBy: [],
    };
    writeFileSync(ref.paths.task(task.id), formatJson(task), { mode: 0o600 });
  }
}
