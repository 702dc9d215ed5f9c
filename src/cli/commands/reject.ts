import { answerFromCommand } from "../approvals/answer-request.ts";
import { defineCommand } from "../command.ts";

export const command = defineCommand({
  name: "reject",
  summary: "Reject a plan or permission, or dismiss a crash",
  args: [
    {
      name: "request",
      summary: "its id or the beginning of its id, or a member (its oldest); by default the oldest of all",
      optional: true,
    },
  ],
  options: { note: { value: "text", summary: "why, as a message to the agent; - reads it from stdin" } },
  examples: [
    'teams reject ben --note "Not now."',
    'teams reject plan_approval-1718000000000@planner@review --note "Keep the old API."',
    "teams reject perm-1718000000000-ab12cd3",
  ],
  run: (call) => answerFromCommand(call, call.args.request, call.options.note, { approve: false }),
});
