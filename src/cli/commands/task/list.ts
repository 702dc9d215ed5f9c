import { memberByAddress, openTeam } from "../../../runtime/select-team.ts";
import { taskStatus } from "../../../schema/task.ts";
import { withLapsedUnassigned } from "../../../team/tasks/lease.ts";
import { withProofs } from "../../../team/tasks/task-proof.ts";
import { listTasks, ownerName } from "../../../team/tasks/tasks.ts";
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
    const { ref, config } = openTeam(io.env, options);
    const owner = options.owner === undefined ? undefined : memberByAddress(ref, config, options.owner).name;
    const broken: string[] = [];
    const all = withProofs(ref, withLapsedUnassigned(listTasks(ref, (_, id) => broken.push(id))));
    if (broken.length > 0) out.note(brokenTasksNote(broken));
    const tasks = all.filter(
      (task) =>
        (options.status === undefined || task.status === options.status) &&
        (owner === undefined || ownerName(task) === owner),
    );
    out.answer({ tasks: tasks.map(taskJson), ...(broken.length === 0 ? {} : { broken }) }, () => {
      if (tasks.length > 0)
        return taskTable(tasks, { styleText: out.styleText, columns: out.columns, among: all });
      return all.length + broken.length === 0
        ? 'No tasks yet. Try: teams task add "…"'
        : "No matching tasks.";
    });
  },
});
