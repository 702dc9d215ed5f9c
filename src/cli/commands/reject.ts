import { answerApproval } from "../../lead/approvals.ts";
import { defineCommand } from "../command.ts";
import { filesContext } from "../context.ts";
import { line } from "../paint.ts";
import { deciderOf, openTeam } from "../team.ts";
import { textOption } from "../text.ts";

export const command = defineCommand({
  name: "reject",
  summary: "Reject a plan or permission",
  args: [{ name: "id", summary: "the request, as `teams approvals` lists it" }],
  options: { note: { value: "text", summary: "why, for the one who asked; - reads stdin" } },
  examples: [
    'teams reject plan_approval-1718000000000@planner@review --note "Keep the old API."',
    "teams reject perm-1718000000000-ab12cd3",
  ],
  async run(call) {
    const { args, options, io, out } = call;
    const ctx = filesContext(call, openTeam(io.env, options));
    const note = await textOption(io, options.note, "note");
    const approval = await answerApproval(ctx, args.id, {
      approve: false,
      decider: deciderOf(io.env),
      ...(note === undefined ? {} : { note }),
    });
    out.done({ ...approval, approved: false }, () => line`Rejected: ${approval.kind} of ${approval.from}.`);
  },
});
