import { adoptPane } from "../adopt-pane.ts";
import { defineCommand } from "../command.ts";

export const command = defineCommand({
  name: "adopt",
  summary: "Adopt a program in one of your panes as a member",
  args: [{ name: "pane", summary: "the pane, as tmux names it: %5, session:window.pane" }],
  options: {
    name: { value: "name", summary: "the member's name (default: the name of the program)" },
    cli: { value: "name", summary: "the adapter whose prompt and interruptKey apply" },
  },
  examples: ["teams adopt %5", "teams adopt work:1.0 --name ada --team review"],
  notes:
    "The pane stays yours: it is never moved or closed. When the member leaves, the program keeps running. A claude that you started for " +
    "this team reads its inbox, codex gets messages by codex queue, and teams types them into every other program. A shell is refused. Only a " +
    "person can adopt. List the panes: tmux list-panes -a",
  async run(call) {
    const { args, options } = call;
    await adoptPane(call, { pane: args.pane, team: options.team, name: options.name, cli: options.cli });
  },
});
