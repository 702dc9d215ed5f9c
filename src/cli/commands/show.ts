import { EXIT } from "../../errors.ts";
import { setHidden } from "../../operations/hide-pane.ts";
import { operationContext } from "../../runtime/operation-context.ts";
import { openAddress } from "../../runtime/select-team.ts";
import { line } from "../../terminal/output.ts";
import { defineCommand } from "../command.ts";

export const command = defineCommand({
  name: "show",
  summary: "Move a hidden teammate's pane back into the team's window",
  args: [{ name: "agent", summary: "the teammate: name or name@team" }],
  options: {},
  examples: ["teams show reviewer", "teams show reviewer@review --json"],
  async run(call) {
    const { args, options, io, out } = call;
    const open = openAddress(io.env, options, args.agent);
    const { name } = open.member;
    const outcome = await setHidden(await operationContext(call, open), name, false);
    out.done({ agent: name, hidden: false, moved: outcome === "moved" }, () => {
      if (outcome === "own-window") return line`${name} was spawned in its own window and stays there.`;
      return line`${name} is ${outcome === "moved" ? "now" : "already"} in the team's window.`;
    });
    return EXIT.done;
  },
});
