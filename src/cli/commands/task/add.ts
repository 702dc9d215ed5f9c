import { addTask } from "../../../team/task-flow.ts";
import { defineCommand } from "../../command.ts";
import { line } from "../../paint.ts";
import { memberOf, openTeam } from "../../team.ts";
import { listOption, textOf, textOption } from "../../text.ts";

export const command = defineCommand({
  name: "task add",
  summary: "Add a task",
  args: [{ name: "subject", summary: "what is to be done, in a line", many: true }],
  options: {
    description: { short: "d", value: "text", summary: "all that is needed to do it; - reads stdin" },
    owner: { value: "member", summary: "who is to do it; they are told" },
    blockedBy: { value: "ids", summary: "tasks that must be completed before", many: true },
  },
  examples: [
    'teams task add "Find every TODO"',
    'teams task add "Write the report" --blocked-by 1,2 --owner writer',
    "teams task add 'Fix the parser' -d - < issue.md",
  ],
  async run({ args, options, io, out }) {
    const { ref, config, actor } = openTeam(io.env, options);
    const subject = await textOf(io, args.subject, "subject");
    const description = (await textOption(io, options.description, "description")) ?? "";
    const owner = options.owner === undefined ? {} : { owner: memberOf(ref, config, options.owner).name };
    const blockedBy = listOption(options.blockedBy).map((id) => id.replace(/^#/, ""));
    const task = await addTask(ref, actor, { subject, description, blockedBy, ...owner });
    out.done({ task }, () => line`Task #${task.id} is added.`);
  },
});
