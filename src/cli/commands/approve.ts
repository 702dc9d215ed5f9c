import { PERMISSION_MODES } from "../../schema/permission-modes.ts";
import { SETTINGS_SCOPES } from "../../settings/settings-files.ts";
import { answerRequest } from "../answer-request.ts";
import { defineCommand } from "../define-command.ts";

/** Modes that a plan can go on in: what follows a plan is work. */
const MODES = PERMISSION_MODES.filter((mode) => mode !== "plan" && mode !== "delegate");

export const command = defineCommand({
  name: "approve",
  summary: "Approve a plan or permission, answer a question, or restart what crashed",
  args: [{ name: "id", summary: "the request, as `teams approvals` lists it" }],
  options: {
    note: { value: "text", summary: "feedback; for a question its answer; - reads stdin" },
    mode: { value: "mode", summary: "the mode in which an approved plan is carried out", choices: MODES },
    always: { summary: "for a permission: allow the same without asking, as long as the agent runs" },
    rule: { value: "rule", summary: "as --always, for more than this one call: 'Bash(git:*)'", many: true },
    save: {
      value: "where",
      summary: "as --always, for all agents: by a rule in that settings file",
      choices: SETTINGS_SCOPES,
    },
  },
  examples: [
    "teams approve plan_approval-1718000000000@planner@review",
    'teams approve question-1718000000000@dev --note "Use port 8080."',
    "teams approve perm-1718000000000-ab12cd3 --rule 'Bash(npm test:*)' --save user",
  ],
  run: (call) => {
    const { mode, always, rule = [], save } = call.options;
    return answerRequest(
      call,
      call.args.id,
      call.options.note,
      { approve: true, ...(mode === undefined ? {} : { mode }) },
      always || rule.length > 0 || save !== undefined ? { rules: rule, save } : undefined,
    );
  },
});
