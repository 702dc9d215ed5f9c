import { EXIT } from "../../errors.ts";
import { teamStatus } from "../../operations/status.ts";
import { filesContext } from "../../runtime/operation-context.ts";
import { namedTeam, openTeam, openTeams } from "../../runtime/select-team.ts";
import { line } from "../../terminal/output.ts";
import { brokenTasksNote, statusLine } from "../../terminal/status-line.ts";
import { defineCommand, usageError } from "../command.ts";
export const command = defineCommand({
  name: "status",
  summary: "Show a team's members, their states, tasks, tokens, and what is waiting for you",
  args: [{ name: "name", summary: "the team", optional: true }],
  options: {
    watch: { short: "w", summary: "redraw whenever something changes; j and k scroll, q closes" },
    git: { summary: "show each worktree's branch, commits ahead and behind, and uncommitted changes" },
    line: { summary: "print one line for a status bar, for all teams if none is selected; reads only files" },
    path: { summary: "with --line: print the path of the file that has this line while a teammate runs" },
  },
  examples: ["teams status", "teams status review --json --git", "teams status --watch"],
  async run(call) {
    const { args, options, io, out } = call;
    const excluded = options.line ? (["git", "watch"] as const).find((key) => options[key]) : undefined;
    if (excluded) throw usageError(command, `accepts --line or --${excluded}, not both.`);
    if (options.path && !options.line) throw usageError(command, "accepts --path only with --line.");
    const selection = { ...options, team: namedTeam(io.env, options, args.name) };
    if (options.line && !options.path) {
      const opened = openTeams(io.env, selection, (error) => out.note(line`${error.message}`));
      const all = await Promise.all(opened.map((open) => teamStatus(filesContext(call, open))));
      const broken = all.flatMap(({ tasks: { broken: ids = [] } }, i) =>
        opened.length === 1 ? ids : ids.map((id) => `${id}@${opened[i]?.ref.team}`),
      );
      if (broken.length > 0) out.note(brokenTasksNote(broken));
      const text = all.map(statusLine).join(" | ");
      out.answer({ line: text, ...(broken.length > 0 && { broken }) }, () => text);
      return EXIT.done;
    }
    const open = openTeam(io.env, selection);
    if (options.path) {
      const path = open.ref.paths.statusLine;
      out.answer({ path }, () => path);
      return EXIT.done;
    }
    // Not loaded for --line: status bars call it again and again, and it neither notices deaths nor notifies members.
    const { showStatus } = await import("../watch-status.ts");
    return showStatus(call, open, options);
  },
});
