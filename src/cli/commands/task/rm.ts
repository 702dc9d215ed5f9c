import { openTeam } from "../../../runtime/select-team.ts";
import { updateTask } from "../../../team/tasks/update-task.ts";
import { line } from "../../../terminal/output.ts";
import { defineCommand } from "../../command.ts";
import { parseTaskId } from "../../option-values.ts";

export const command = defineCommand({
  name: "task rm",
  summary: "Remove a task",
  args: [{ name: "id", summary: "the task's number" }],
  options: {},
  examples: ["teams task rm 3", "teams task rm 3 --team review --json"],
  async run({ args, options, io, out }) {
    const { ref, actor } = openTeam(io.env, options);
    const id = parseTaskId(args.id);
    await updateTask(ref, actor, id, { status: "deleted" });
    out.done({ id, deleted: true }, () => line`Removed task #${id}.`);
  },
});
