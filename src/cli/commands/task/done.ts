import { systemClock } from "../../../os/clock.ts";
import { openTeam } from "../../../runtime/select-team.ts";
import { taskHooks } from "../../../runtime/task-hooks.ts";
import { runText, withProof } from "../../../team/tasks/task-proof.ts";
import { readableTask } from "../../../team/tasks/tasks.ts";
import { updateTask } from "../../../team/tasks/update-task.ts";
import { readVerify } from "../../../team/tasks/verify-record.ts";
import { line } from "../../../terminal/output.ts";
import { defineCommand } from "../../command.ts";
import { taskJson } from "../../json-times.ts";
import { parseTaskId } from "../../option-values.ts";

export const command = defineCommand({
  name: "task done",
  summary: "Mark a task as completed",
  args: [{ name: "id", summary: "the task's number" }],
  options: {},
  examples: ["teams task done 3", "teams task done 3 --as writer --json"],
  notes:
    "Runs the task's verify command first, in the directory of its owner; if it fails, the task stays in progress (exit 1). The owners of tasks that waited for this task are notified.",
  async run(call) {
    const { args, options, io, out } = call;
    const open = openTeam(io.env, options);
    const { ref, actor } = open;
    const gate = await taskHooks(call, open);
    const update = { status: "completed" } as const;
    const task = await updateTask(ref, actor, parseTaskId(args.id), update, systemClock, gate);
    const broken: string[] = [];
    for (const id of task?.blocks ?? []) readableTask(ref, id, () => broken.push(id));
    if (broken.length > 0)
      out.note(
        line`These tasks waited for the completed task, but cannot be read, so their owners were not notified: ${broken.map((id) => `#${id}`).join(", ")}. Run teams doctor.`,
      );
    out.done(
      { task: task && taskJson(withProof(ref, task)), ...(broken.length === 0 ? {} : { broken }) },
      () => {
        const id = args.id.replace(/^#/, "");
        const run = readVerify(ref, id)?.run;
        return run === undefined
          ? line`Completed task #${id}.`
          : line`Completed task #${id}; its verify command passed (${runText(run)}).`;
      },
    );
  },
});
