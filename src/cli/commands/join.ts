import { TeamError } from "../../errors.ts";
import { ancestorThat } from "../../os/process/ancestors.ts";
import { namedTeam } from "../../runtime/select-team.ts";
import { tmuxCaller } from "../../tmux/caller.ts";
import { adoptPane } from "../adopt-pane.ts";
import { defineCommand } from "../command.ts";

export const command = defineCommand({
  name: "join",
  summary: "Make the program that runs this command a member",
  args: [{ name: "team", summary: "the team" }],
  options: {
    name: { value: "name", summary: "the member's name (default: the name of the program)" },
    cli: { value: "name", summary: "the adapter whose prompt and interruptKey apply" },
  },
  examples: ["teams join review", "teams join review --name ada"],
  notes:
    "Run it from the program that should join, for example with ! in its input. That program must be in the foreground of its pane. To " +
    "start a new member from a shell: teams spawn <name> --cli <cli> --here",
  async run(call) {
    const { args, options, io } = call;
    const { pane } = tmuxCaller(io.env) ?? {};
    if (pane === undefined) {
      throw new TeamError("INVALID_INPUT", "This command does not run in a tmux pane; nothing was adopted.", {
        hint: "Start the program in tmux. Or start it as a member: teams spawn <name> --cli <cli>",
      });
    }
    await adoptPane(call, {
      pane,
      team: namedTeam(io.env, options, args.team),
      name: options.name,
      cli: options.cli,
      // The variables of a command may name any pane; only the program that started it joins.
      isWanted: (front) => ancestorThat((pid) => pid === front) !== undefined,
    });
  },
});
