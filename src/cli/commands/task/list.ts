import { listedTasks } from "../../../runtime/commands/listed-tasks.ts";
import { openTeam } from "../../../runtime/select-team.ts";
import { taskStatus } from "../../../schema/task.ts";
import { brokenTasksNote } from "../../../terminal/status-line.ts";
import { taskTable } from "../../../terminal/task-text.ts";
import { defineCommand } from "../../command.ts";
import { taskJson } from "../../json-times.ts";

export const command = defineCommand({
  name: "task list",
  summary: "List the tasks",
  args: [],
  options: {
    status: { value: "status", summary: "only tasks in this state", choices: taskStatus.options },
    owner: { value: "member", summary: "only tasks of this member" },
  },
  examples: ["teams task list", "teams task list --status pending --json", "teams task list --owner writer"],
  async run({ options, io, out }) {
    const { tasks, all, broken } = listedTasks(openTeam(io.env, options), options);
    if (broken.length > 0) out.note(brokenTasksNote(broken));
    out.answer({ tasks: tasks.map(taskJson), ...(broken.length === 0 ? {} : { broken }) }, () => {
      if (tasks.length > 0)
        return taskTable(tasks, { styleText: out.styleText, columns: out.columns, among: all });
      return all.length + broken.length === 0
        ? 'No tasks yet. Try: teams task add "…"'
        : "No matching tasks.";
    });
  },
});
