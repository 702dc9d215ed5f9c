import * as z from "zod/mini";
import { withLapsedUnassigned } from "../team/tasks/lease.ts";
import { listTasks } from "../team/tasks/tasks.ts";
import { jsonResult, TEAM_ACCESS, type TeamTool, withRefusals } from "./context.ts";

const input = z.object({});

export const taskList: TeamTool = ({ ctx }) => ({
  name: "TaskList",
  description: "Lists the team's tasks with state, owner and what each still waits for.",
  input: input,
  access: () => TEAM_ACCESS,
  summary: () => "",
  execute: () =>
    withRefusals(async () => {
      const broken: string[] = [];
      const tasks = withLapsedUnassigned(listTasks(ctx.ref, (_, id) => broken.push(id)));
      const done = new Set(tasks.filter((task) => task.status === "completed").map((task) => task.id));
      const open = tasks.length - done.size;
      const display = `${tasks.length} ${tasks.length === 1 ? "task" : "tasks"}, ${done.size} completed, ${open} open`;
      const list = {
        tasks: tasks.map(({ id: taskId, subject, status, owner, blockedBy }) => ({
          id: taskId,
          subject,
          status,
          owner: owner ?? null,
          blockedBy: blockedBy.filter((blocker) => !done.has(blocker)),
        })),
        // Reported, since other tasks may wait for an unreadable task.
        ...(broken.length === 0 ? {} : { broken }),
      };
      return jsonResult(list, display);
    }),
});
