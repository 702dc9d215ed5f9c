import * as z from "zod/mini";
import { withExpiredUnassigned } from "../team/tasks/lease.ts";
import { withProofs } from "../team/tasks/task-proof.ts";
import { listTasks } from "../team/tasks/tasks.ts";
import { jsonResult, type MemberTool, TEAM_ACCESS, withRefusals } from "./context.ts";
import { proofFacts } from "./task-schema.ts";

const input = z.object({});

export const taskList: MemberTool = ({ ctx }) => ({
  name: "TaskList",
  description: "Lists the team's tasks with their states, owners and open blockers.",
  input: input,
  access: () => TEAM_ACCESS,
  summary: () => "",
  execute: () =>
    withRefusals(async () => {
      const broken: string[] = [];
      const listed = withExpiredUnassigned(listTasks(ctx.ref, (_, id) => broken.push(id)));
      const tasks = withProofs(ctx.ref, listed);
      const done = new Set(tasks.filter((task) => task.status === "completed").map((task) => task.id));
      const open = tasks.length - done.size;
      const display = `${tasks.length} ${tasks.length === 1 ? "task" : "tasks"}, ${done.size} completed, ${open} open`;
      const list = {
        tasks: tasks.map((task) => {
          const { id: taskId, subject, status, owner, blockedBy } = task;
          const { verifyRun: _long, ...proof } = proofFacts(task);
          return {
            ...{ id: taskId, subject, status, owner: owner ?? null },
            blockedBy: blockedBy.filter((blocker) => !done.has(blocker)),
            ...proof,
          };
        }),
        // Reported, since other tasks may wait for an unreadable task.
        ...(broken.length === 0 ? {} : { broken }),
      };
      return jsonResult(list, display);
    }),
});
