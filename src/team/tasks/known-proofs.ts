import { listDir } from "../../os/files/fs.ts";
import type { Task } from "../../schema/task.ts";
import type { TeamRef } from "../ref.ts";
import { hasFields } from "./task-fields.ts";
import type { ListedTask } from "./task-proof.ts";

/** Adds the claim and the verify result of each task. Loads the code for that only if a task has a field for it. */
export async function withKnownProofs(ref: TeamRef, tasks: readonly Task[]): Promise<readonly ListedTask[]> {
  if (tasks.some(hasFields) || listDir(ref.paths.verifies).length > 0) {
    const { withProofs } = await import("./task-proof.ts");
    return withProofs(ref, tasks);
  }
  const none = { verify: null, reviewer: null, touches: [], shown: "none", verifyRun: null } as const;
  return tasks.map((task) => ({ ...task, ...none, said: task.status === "completed" }));
}
