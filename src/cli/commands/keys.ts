import { pressInPane } from "../../operations/press-and-type.ts";
import { line } from "../../terminal/output.ts";
import { defineCommand } from "../command.ts";
import { paneToType } from "../pane-to-type.ts";

export const command = defineCommand({
  name: "keys",
  summary: "Press keys in an agent's pane",
  args: [
    { name: "agent", summary: "the member: name or name@team" },
    { name: "key", summary: "names of keys, as tmux knows them: Escape, Enter, C-c, Up, F5, y", many: true },
  ],
  options: {},
  examples: ["teams keys ada Escape", "teams keys ada Down Down Enter"],
  notes:
    "tmux checks that the pane is still the agent's and presses the keys in one step. Nothing is pressed in copy mode.",
  async run(call) {
    const { args, out } = call;
    const { ctx, name, team } = await paneToType(call, args.agent);
    await pressInPane(ctx, name, args.key);
    out.done(
      { team, name, pressed: args.key },
      () => line`Pressed in the pane of ${name}: ${args.key.join(" ")}`,
    );
  },
});
