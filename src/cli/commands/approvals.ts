import { listApprovals } from "../../lead/approvals.ts";
import { defineCommand } from "../command.ts";
import { table } from "../table.ts";
import { openTeam } from "../team.ts";

export const command = defineCommand({
  name: "approvals",
  summary: "List plans, permissions and questions that wait for you",
  args: [],
  options: {},
  examples: ["teams approvals", "teams approvals --team review --json"],
  async run({ options, io, out }) {
    const { ref } = openTeam(io.env, options);
    const approvals = listApprovals(ref);
    out.answer({ approvals }, () => {
      if (approvals.length === 0) return "Nothing waits for you.";
      const rows = approvals.map(({ id, kind, from, summary }) => [
        id,
        out.paint(kind, "attention"),
        from,
        summary,
      ]);
      const list = table(["ID", "KIND", "FROM", "ABOUT"], rows, { columns: out.columns });
      return `${list}\n\nAnswer with: teams approve <id>   or: teams reject <id> --note "why"`;
    });
  },
});
