import { deleteTeam } from "../../lead/delete-team.ts";
import { defineCommand } from "../command.ts";
import { leadContext, requireOurs } from "../context.ts";
import { line } from "../paint.ts";
import { openTeam } from "../team.ts";

export const command = defineCommand({
  name: "delete",
  summary: "Remove a team: its config, inboxes and tasks",
  args: [{ name: "name", summary: "the team", optional: true }],
  options: { force: { summary: "end living members first instead of refusing" } },
  examples: ["teams delete review", "teams delete review --force"],
  notes: "It refuses while a member's process lives: shut them down first (teams shutdown --all).",
  async run(call) {
    const { args, options, io, out } = call;
    const open = openTeam(io.env, { ...options, team: args.name ?? options.team }, undefined);
    const named = args.name !== undefined || options.team !== undefined;
    requireOurs(open, { named, force: options.force });
    await deleteTeam(await leadContext(call, open), { force: options.force });
    out.done({ team: open.ref.team, deleted: true }, () => line`Team ${open.ref.team} is deleted.`);
  },
});
