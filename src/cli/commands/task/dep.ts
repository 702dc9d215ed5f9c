import { openTeam } from "../../../runtime/select-team.ts";
import { updateTask } from "../../../team/tasks/update-task.ts";
import { line } from "../../../terminal/output.ts";
import { defineCommand } from "../../command.ts";
import { parseTaskId } from "../../option-values.ts";

export const command = defineCommand({
  name: "task dep",
  summary: "Make a task wait for another task, or stop waiting for it",
  args: [
    { name: "id", summary: "the task that waits" },
    { name: "blocker", summary: "the task that must be completed first" },
  ],
  options: { remove: { summary: "no longer wait for it" } },
  examples: ["teams task dep 3 1", "teams task dep 3 2 --json", "teams task dep 3 1 --remove"],
  notes:
    "A dependency that would create a cycle is refused (exit 4). The owner of a task that no longer waits for anything is notified.",
  async run({ args, options, io, out }) {
    const { ref, actor } = openTeam(io.env, options);
    const [id, blocker] = [parseTaskId(args.id), parseTaskId(args.blocker)];
    const update = options.remove ? { removeBlockedBy: [blocker] } : { addBlockedBy: [blocker] };
    const task = await updateTask(ref, actor, id, update);
    out.done(
      { task },
      () => line`Task #${id} ${options.remove ? "no longer" : "now"} waits for #${blocker}.`,
    );
  },
});
