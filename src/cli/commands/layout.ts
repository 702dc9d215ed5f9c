import { LAYOUTS } from "../../backend/arrange.ts";
import { EXIT, TeamError } from "../../errors.ts";
import { layOutWindows } from "../../lead/layout.ts";
import { didYouMean } from "../../schema/nearest.ts";
import { defineCommand } from "../command.ts";
import { leadContext } from "../context.ts";
import { line } from "../paint.ts";
import { openTeam } from "../team.ts";
import { counted } from "../text.ts";

export const command = defineCommand({
  name: "layout",
  summary: "Lay out the team's windows",
  args: [{ name: "name", summary: LAYOUTS.join(", ") }],
  options: {},
  examples: ["teams layout main-vertical", "teams layout grid --team review"],
  notes: "grid is how they are laid out at first. Windows of yours stay as they are.",
  async run(call) {
    const { args, options, io, out } = call;
    const layout = LAYOUTS.find((name) => name === args.name);
    if (layout === undefined) {
      throw new TeamError("INVALID_INPUT", `There is no layout ${JSON.stringify(args.name)}.`, {
        hint: didYouMean(args.name, LAYOUTS, `There are ${LAYOUTS.join(", ")}.`),
      });
    }
    const open = openTeam(io.env, options);
    const windows = await layOutWindows(await leadContext(call, open), layout);
    out.done({ team: open.ref.team, layout, windows }, () => {
      if (windows === 0) return "Each teammate has a window for itself: there is nothing to lay out.";
      return line`${counted(windows, "window")}: ${layout}.`;
    });
    return EXIT.done;
  },
});
