import { systemClock } from "../../../os/clock.ts";
import { memberByAddress, openTeam } from "../../../runtime/select-team.ts";
import { taskHooks } from "../../../runtime/task-hooks.ts";
import { updateTask } from "../../../team/tasks/update-task.ts";
import { line } from "../../../terminal/output.ts";
import { defineCommand, usageError } from "../../command.ts";
import { parseTaskId, textOption } from "../../option-values.ts";
export const command = defineCommand({
  name: "task update",
  summary: "Change a task",
  args: [{ name: "id", summary: "the task's number" }],
  options: {
    status: {
      value: "status",
      summary: "its new state",
      choices: ["pending", "in_progress", "completed", "deleted"],
    },
    owner: { value: "member", summary: "assign it to this member, and notify the member" },
    subject: { value: "text", summary: "its new subject" },
    description: { short: "d", value: "text", summary: "its new description; - reads it from stdin" },
  },
  examples: [
    "teams task update 3 --status in_progress",
    "teams task update 3 --owner writer",
    'teams task update 3 --subject "Find every FIXME" --json',
  ],
  async run(call) {
    const { args, options, io, out } = call;
    const { status, subject } = options;
    const description = await textOption(io, options.description, "description");
    if ([status, options.owner, subject, description].every((value) => value === undefined)) {
      throw usageError(command, "needs --status, --owner, --subject or -d.");
    }
    const open = openTeam(io.env, options);
    const { ref, config, actor } = open;
    const id = parseTaskId(args.id);
    const update = {
      ...(status === undefined ? {} : { status }),
      ...(options.owner === undefined ? {} : { owner: memberByAddress(ref, config, options.owner).name }),
      ...(subject === undefined ? {} : { subject }),
      ...(description === undefined ? {} : { description }),
    };
    const gate = status === "completed" ? await taskHooks(call, open) : undefined;
    const task = await updateTask(ref, actor, id, update, systemClock, gate);
    out.done(
      task === undefined ? { id, deleted: true } : { task },
      () => line`${status === "deleted" ? "Removed" : "Changed"} task #${id}.`,
    );
  },
});
