import { WORKING_MODES } from "../../schema/permission-modes.ts";
import { SETTINGS_SCOPES } from "../../settings/settings-files.ts";
import { answerFromCommand } from "../approvals/answer-request.ts";
import { defineCommand } from "../command.ts";

export const command = defineCommand({
  name: "approve",
  summary: "Approve a plan or permission, answer a question, or restart a crashed agent",
  args: [
    {
      name: "request",
      summary: "its id or the beginning of its id, or a member (its oldest); by default the oldest of all",
      optional: true,
    },
  ],
  options: {
    note: { value: "text", summary: "feedback, or the answer to a question; - reads it from stdin" },
    mode: {
      value: "mode",
      summary:
        "the permission mode for carrying out an approved plan (default: the agent's mode without planning)",
      choices: WORKING_MODES,
    },
    always: { summary: "for a permission: allow the same call without asking, until the agent ends" },
    rule: {
      value: "rule",
      summary: "as --always, but allow all calls that match this rule, such as 'Bash(git:*)'",
      many: true,
    },
    save: {
      value: "where",
      summary: "as --always, but for all agents: save the rule in these settings",
      choices: SETTINGS_SCOPES,
    },
  },
  examples: [
    "teams approve ben",
    'teams approve question-1718000000000@dev --note "Use port 8080."',
    "teams approve perm-1718000000000-ab12cd3 --rule 'Bash(npm test:*)' --save user",
  ],
  run: (call) => {
    const { mode, always, rule = [], save } = call.options;
    return answerFromCommand(
      call,
      call.args.request,
      call.options.note,
      { approve: true, ...(mode === undefined ? {} : { mode }) },
      always || rule.length > 0 || save !== undefined ? { rules: rule, save } : undefined,
    );
  },
});
