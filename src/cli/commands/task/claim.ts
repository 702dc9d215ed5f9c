import { openTeam } from "../../../runtime/select-team.ts";
import { claimTask } from "../../../team/tasks/claim-task.ts";
import { line } from "../../../terminal/output.ts";
import { defineCommand } from "../../command.ts";
import { parseTaskId } from "../../option-values.ts";

export const command = defineCommand({
  name: "task claim",
  summary: "Claim a task (default: the first free task)",
  args: [{ name: "id", summary: "the task's number", optional: true }],
  options: { exclusive: { summary: "only if the member has no other unfinished task" } },
  examples: ["teams task claim 3 --as writer", "teams task claim --exclusive --json"],
  notes:
    "The claim fails (exit 4) if the task is assigned, blocked or completed, or if a running task touches the same files.",
  async run({ args, options, io, out }) {
    const { ref, actor } = openTeam(io.env, options);
    const id = args.id === undefined ? undefined : parseTaskId(args.id);
    const task = await claimTask(ref, actor, id, { exclusive: options.exclusive });
    out.done({ task }, () => line`${actor} claimed task #${task.id}: ${task.subject}`);
  },
});
