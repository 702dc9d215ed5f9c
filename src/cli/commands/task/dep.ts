import { openTeam } from "../../../runtime/select-team.ts";
import { getTask } from "../../../team/tasks/tasks.ts";
import { updateTask } from "../../../team/tasks/update-task.ts";
import { line } from "../../../terminal/output.ts";
import { defineCommand } from "../../command.ts";
import { parseTaskId } from "../../option-values.ts";

export const command = defineCommand({
  name: "task dep",
  summary: "Make a task wait for another task, or no longer",
  args: [
    { name: "id", summary: "the task that waits" },
    { name: "blocker", summary: "the task that must be completed first" },
  ],
  options: {
    remove: { summary: "remove the dependency; the owner of a task that is free by that is notified" },
  },
  examples: ["teams task dep 3 1", "teams task dep 3 2 --json", "teams task dep 3 1 --remove"],
  notes: "A dependency that would create a cycle is refused (exit 4).",
  async run({ args, options, io, out }) {
    const { ref, actor } = openTeam(io.env, options);
    const [id, blocker] = [parseTaskId(args.id), parseTaskId(args.blocker)];
    if (options.remove) {
      const had = getTask(ref, id).blockedBy.includes(blocker);
      const task = await updateTask(ref, actor, id, { removeBlockedBy: [blocker] });
      out.done({ task }, () =>
        had
          ? line`Task #${id} no longer waits for #${blocker}.`
          : line`Task #${id} does not wait for #${blocker}; nothing was changed.`,
      );
      return;
    }
    const task = await updateTask(ref, actor, id, { addBlockedBy: [blocker] });
    out.done({ task }, () => line`Task #${id} now waits for #${blocker}.`);
  },
});
