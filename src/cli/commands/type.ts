import { typeInPane } from "../../operations/press-and-type.ts";
import { line } from "../../terminal/output.ts";
import { defineCommand } from "../command.ts";
import { textArgument } from "../option-values.ts";
import { paneToType } from "../pane-to-type.ts";

export const command = defineCommand({
  name: "type",
  summary: "Type text into an agent's pane, and press Enter",
  args: [
    { name: "agent", summary: "the member: name or name@team" },
    { name: "text", summary: "the text; - reads it from stdin", many: true },
  ],
  options: {},
  examples: ["teams type ada /compact", "git diff | teams type ada -"],
  notes:
    "The text goes to the program in the pane, as if you typed it there. To send a message: teams send. Nothing is typed if the pane is " +
    "no longer the agent's, is in copy mode, or contains a draft.",
  async run(call) {
    const { args, io, out } = call;
    const text = await textArgument(io, args.text, "text");
    const { ctx, name, team } = await paneToType(call, args.agent);
    const { confirmed } = await typeInPane(ctx, name, text);
    out.done({ team, name, typed: true, confirmed }, () =>
      confirmed
        ? line`Typed into the pane of ${name}.`
        : line`Typed into the pane of ${name}; its program has not reacted to Enter yet.`,
    );
  },
});
