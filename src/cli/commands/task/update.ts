import { systemClock } from "../../../os/clock.ts";
import { confirmsVerify } from "../../../runtime/commands/confirms-verify.ts";
import { memberByAddress, openTeam } from "../../../runtime/select-team.ts";
import { taskHooks } from "../../../runtime/task-hooks.ts";
import { withProof } from "../../../team/tasks/task-proof.ts";
import { updateTask } from "../../../team/tasks/update-task.ts";
import { line } from "../../../terminal/output.ts";
import { defineCommand, usageError } from "../../command.ts";
import { taskJson } from "../../json-times.ts";
import { METADATA_OPTION, metadataOption } from "../../metadata-option.ts";
import { parseTaskId, textOption } from "../../option-values.ts";
import { FIELD_OPTIONS, noteProposal, taskFields } from "./field-options.ts";

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
    noOwner: { summary: "unassign it" },
    subject: { value: "text", summary: "its new subject" },
    description: { short: "d", value: "text", summary: "its new description; - reads it from stdin" },
    metadata: { ...METADATA_OPTION, summary: "attach metadata; an empty value removes the key" },
    ...FIELD_OPTIONS,
  },
  examples: [
    "teams task update 3 --owner writer --metadata ticket=42",
    'teams task update 3 --subject "Find every FIXME" --json',
    "teams task update 3 --verify 'npm test -- lexer'",
  ],
  notes:
    "An empty --active-form, --verify, --reviewer or --touches removes that field. If a model has written the verify command, repeating it here confirms it.",
  async run(call) {
    const { args, options, io, out } = call;
    const { status, subject } = options;
    const description = await textOption(io, options.description, "description");
    const metadata = removals(metadataOption(options.metadata));
    if (subject?.trim() === "") throw usageError(command, "needs a text for --subject; nothing was changed.");
    if (options.noOwner && options.owner !== undefined)
      throw usageError(command, "accepts --owner or --no-owner, not both.");
    const { activeForm, verify, reviewer, touches } = options;
    const given = [
      status,
      options.owner,
      subject,
      description,
      metadata,
      activeForm,
      verify,
      reviewer,
      touches[0],
    ];
    if (given.every((one) => one === undefined) && !options.noOwner)
      throw usageError(
        command,
        "needs --status, --owner, --no-owner, --subject, --active-form, --metadata, --verify, --reviewer, --touches or -d.",
      );
    const open = openTeam(io.env, options);
    const { ref, config, actor } = open;
    const id = parseTaskId(args.id);
    const fields = taskFields(options, (address) => memberByAddress(ref, config, address).name);
    const confirms = confirmsVerify(ref, io.env, { id, verify: fields.verify });
    const update = {
      ...fields,
      ...(status === undefined ? {} : { status }),
      ...(options.owner === undefined ? {} : { owner: memberByAddress(ref, config, options.owner).name }),
      ...(options.noOwner ? { owner: "" } : {}),
      ...(metadata === undefined ? {} : { metadata }),
      ...(subject === undefined ? {} : { subject }),
      ...(description === undefined ? {} : { description }),
    };
    const gate = { ...(status === "completed" ? await taskHooks(call, open) : {}), confirms };
    const task = await updateTask(ref, actor, id, update, systemClock, gate);
    if (!confirms) noteProposal({ id, verify: fields.verify }, out);
    out.done(
      task === undefined ? { id, deleted: true } : { task: taskJson(withProof(ref, task)) },
      () => line`${status === "deleted" ? "Removed" : "Changed"} task #${id}.`,
    );
  },
});

/** Converts empty values to null, which removes their keys. */
function removals(
  metadata: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string | null>> | undefined {
  return metadata && Object.fromEntries(Object.entries(metadata).map(([key, value]) => [key, value || null]));
}
