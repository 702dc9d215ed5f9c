import type { Task } from "../schema/task.ts";

/** Asked before a task is there, or completed; what it throws refuses that (protocol.md section 5, Hooks). */
export interface TaskGate {
  readonly created?: ((task: TaskFacts) => Promise<void>) | undefined;
  readonly completed?: ((task: TaskFacts) => Promise<void>) | undefined;
}

/** What it is told of the task, as it is to be. */
export type TaskFacts = Pick<Task, "id" | "subject" | "description">;
