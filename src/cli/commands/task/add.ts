import { systemClock } from "../../../os/clock.ts";
import { confirmsVerify } from "../../../runtime/commands/confirms-verify.ts";
import { memberByAddress, openTeam } from "../../../runtime/select-team.ts";
import { taskHooks } from "../../../runtime/task-hooks.ts";
import { withProof } from "../../../team/tasks/task-proof.ts";
import { addTask } from "../../../team/tasks/update-task.ts";
import { line } from "../../../terminal/output.ts";
import { defineCommand } from "../../command.ts";
import { taskJson } from "../../json-times.ts";
import { METADATA_OPTION, metadataOption } from "../../metadata-option.ts";
import { listOption, textArgument, textOption } from "../../option-values.ts";
import { FIELD_OPTIONS, noteProposal, taskFields } from "./field-options.ts";

export const command = defineCommand({
  name: "task add",
  summary: "Add a task",
  args: [{ name: "subject", summary: "what to do, in one line", many: true }],
  options: {
    description: { short: "d", value: "text", summary: "the details; - reads them from stdin" },
    owner: { value: "member", summary: "assign it to this member, and notify the member" },
    metadata: METADATA_OPTION,
    blockedBy: { value: "ids", summary: "tasks that must be completed first: 1,2", many: true },
    ...FIELD_OPTIONS,
  },
  examples: [
    'teams task add "Write the report" --blocked-by 1,2 --owner writer',
    "teams task add 'Fix the parser' -d - < issue.md",
    "teams task add 'Speed up the lexer' --verify 'npm test' --touches 'src/lexer/**' --reviewer rev",
  ],
  async run(call) {
    const { args, options, io, out } = call;
    const open = openTeam(io.env, options);
    const { ref, config, actor } = open;
    const subject = await textArgument(io, args.subject, "subject");
    const description = (await textOption(io, options.description, "description")) ?? "";
    const owner =
      options.owner === undefined ? {} : { owner: memberByAddress(ref, config, options.owner).name };
    const blockedBy = listOption(options.blockedBy).map((id) => id.replace(/^#/, ""));
    const metadata = metadataOption(options.metadata);
    const facts = metadata === undefined ? {} : { metadata };
    const fields = taskFields(options, (address) => memberByAddress(ref, config, address).name);
    const confirms = confirmsVerify(ref, io.env, { verify: fields.verify });
    const gate = { ...(await taskHooks(call, open)), confirms };
    const input = { subject, description, blockedBy, ...owner, ...facts, ...fields };
    const task = await addTask(ref, actor, input, systemClock, gate);
    if (!confirms) noteProposal({ id: task.id, verify: fields.verify }, out);
    out.done({ task: taskJson(withProof(ref, task)) }, () => line`Added task #${task.id}.`);
  },
});
