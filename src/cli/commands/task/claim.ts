import { openTeam } from "../../../runtime/select-team.ts";
import { claimTask } from "../../../team/tasks/claim-task.ts";
import { line } from "../../../terminal/paint.ts";
import { defineCommand } from "../../define-command.ts";
import { parseTaskId } from "../../option-values.ts";

export const command = defineCommand({
  name: "task claim",
  summary: "Take a task; without a number the lowest free one",
  args: [{ name: "id", summary: "its number", optional: true }],
  options: { exclusive: { summary: "only if whoever claims it has no other task in progress" } },
  examples: ["teams task claim 3 --as writer", "teams task claim --exclusive --json"],
  notes: "A claim is refused (exit 4) when the task is taken, blocked or resolved.",
  async run({ args, options, io, out }) {
    const { ref, actor } = openTeam(io.env, options);
    const id = args.id === undefined ? undefined : parseTaskId(args.id);
    const task = await claimTask(ref, actor, id, { exclusive: options.exclusive });
    out.done({ task }, () => line`Task #${task.id} is now ${actor}'s: ${task.subject}`);
  },
});
