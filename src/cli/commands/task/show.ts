import { openTeam } from "../../../runtime/select-team.ts";
import { withProof } from "../../../team/tasks/task-proof.ts";
import { getTask, listTasks } from "../../../team/tasks/tasks.ts";
import { line, TASK_STYLES } from "../../../terminal/output.ts";
import { taskFacts } from "../../../terminal/proof-text.ts";
import { taskState } from "../../../terminal/task-text.ts";
import { stripControls } from "../../../text/terminal-text.ts";
import { defineCommand } from "../../command.ts";
import { taskJson } from "../../json-times.ts";
import { parseTaskId } from "../../option-values.ts";

export const command = defineCommand({
  name: "task show",
  summary: "Show all details of a task",
  args: [{ name: "id", summary: "the task's number" }],
  options: {},
  examples: ["teams task show 3", "teams task show 3 --json"],
  async run({ args, options, io, out }) {
    const { ref } = openTeam(io.env, options);
    const task = withProof(ref, getTask(ref, parseTaskId(args.id)));
    out.answer({ task: taskJson(task) }, () => {
      const all = listTasks(ref, () => undefined);
      const state = taskState(task, all);
      return [
        line`${out.styleText(`#${task.id} ${task.subject}`, "bold")}`,
        ...taskFacts(task, out.styleText(state, ...TASK_STYLES[task.status])),
        ...(task.description === "" ? [] : ["", stripControls(task.description)]),
      ].join("\n");
    });
  },
});
