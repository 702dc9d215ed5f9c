import { LAYOUTS } from "../../backend/arrange.ts";
import { EXIT, TeamError } from "../../errors.ts";
import { layOutWindows } from "../../lead/layout.ts";
import type { Env } from "../../os/env.ts";
import { optionWords } from "../../os/shell-words.ts";
import { didYouMean } from "../../schema/nearest.ts";
import { listTeams } from "../../team/config.ts";
import { defineCommand } from "../command.ts";
import { leadContext } from "../context.ts";
import { homeOf } from "../home.ts";
import { line } from "../paint.ts";
import { openTeam } from "../team.ts";
import { counted } from "../text.ts";

export const command = defineCommand({
  name: "layout",
  summary: "Lay out the team's windows",
  args: [{ name: "name", summary: LAYOUTS.join(", ") }],
  options: {},
  examples: ["teams layout main-vertical", "teams layout grid --team review"],
  notes: "grid is the default. Your own windows stay as they are.",
  async run(call) {
    const { args, options, io, out } = call;
    const layout = LAYOUTS.find((name) => name === args.name);
    if (layout === undefined) {
      throw new TeamError("INVALID_INPUT", `There is no layout ${JSON.stringify(args.name)}.`, {
        hint: hintFor(args.name, io.env),
      });
    }
    const open = openTeam(io.env, options);
    const windows = await layOutWindows(await leadContext(call, open), layout);
    out.done({ team: open.ref.team, layout, windows }, () => {
      if (windows === 0) return "Each teammate has a window of its own: there is nothing to lay out.";
      return line`${counted(windows, "window")}: ${layout}.`;
    });
    return EXIT.done;
  },
});

/** A team's name stands behind `--team` here: the word is the layout's. */
function hintFor(word: string, env: Env): string {
  const isTeam = listTeams(homeOf(env)).some(({ team, config }) => team === word || config?.name === word);
  if (isTeam)
    return `Which layout? A team is named by --team: teams layout grid ${optionWords("--team", word)}`;
  return didYouMean(word, LAYOUTS, `There are ${LAYOUTS.join(", ")}.`);
}
