import { updateTask } from "../../../team/task-flow.ts";
import { defineCommand } from "../../command.ts";
import { line } from "../../paint.ts";
import { openTeam } from "../../team.ts";
import { taskId } from "../../text.ts";

export const command = defineCommand({
  name: "task done",
  summary: "Mark a task as completed",
  args: [{ name: "id", summary: "its number" }],
  options: {},
  examples: ["teams task done 3", "teams task done 3 --as writer --json"],
  notes: "Owners whose tasks waited for it are told.",
  async run({ args, options, io, out }) {
    const { ref, actor } = openTeam(io.env, options);
    const task = await updateTask(ref, actor, taskId(args.id), { status: "completed" });
    out.done({ task }, () => line`Task #${args.id.replace(/^#/, "")} is completed.`);
  },
});
