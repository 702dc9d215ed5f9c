import { EXIT } from "../../errors.ts";
import { setHidden } from "../../lead/hide.ts";
import { defineCommand } from "../command.ts";
import { leadContext } from "../context.ts";
import { line } from "../paint.ts";
import { openAddress } from "../team.ts";

export const command = defineCommand({
  name: "hide",
  summary: "Take a teammate's pane out of the team's window, into one of its own",
  args: [{ name: "agent", summary: "whose pane" }],
  options: {},
  examples: ["teams hide reviewer", "teams hide reviewer@review --json"],
  async run(call) {
    const { args, options, io, out } = call;
    const open = openAddress(io.env, options, args.agent);
    const { name } = open.member;
    const outcome = await setHidden(await leadContext(call, open), name, true);
    out.done({ agent: name, hidden: outcome !== "apart", moved: outcome === "moved" }, () => {
      if (outcome === "apart") return line`${name} was spawned into a window of its own, and stays there.`;
      return line`${name} is in a window of its own${outcome === "moved" ? "" : " already"}.`;
    });
    return EXIT.done;
  },
});
