import { LAYOUTS } from "../../backend/tmux/layout-commands.ts";
import { EXIT, TeamError } from "../../errors.ts";
import { layOutWindows } from "../../operations/layout-windows.ts";
import type { Env } from "../../os/env.ts";
import { operationContext } from "../../runtime/operation-context.ts";
import { openTeam } from "../../runtime/select-team.ts";
import { didYouMean } from "../../schema/did-you-mean.ts";
import { listTeams } from "../../team/config/config.ts";
import { teamsCalled } from "../../team/config/find-team.ts";
import { teamsHome } from "../../team/ref.ts";
import { line } from "../../terminal/output.ts";
import { optionWords } from "../../text/shell-quote.ts";
import { defineCommand } from "../command.ts";
import { pluralized } from "../option-values.ts";

export const command = defineCommand({
  name: "layout",
  summary: "Arrange the panes in the team's windows",
  args: [{ name: "name", summary: LAYOUTS.join(", ") }],
  options: {},
  examples: ["teams layout main-vertical", "teams layout grid --team review"],
  notes: "The default layout is grid. Your own windows stay as they are.",
  async run(call) {
    const { args, options, io, out } = call;
    const layout = LAYOUTS.find((name) => name === args.name);
    if (layout === undefined) {
      throw new TeamError("INVALID_INPUT", `There is no layout ${JSON.stringify(args.name)}.`, {
        hint: hintFor(args.name, io.env),
      });
    }
    const open = openTeam(io.env, options);
    const windows = await layOutWindows(await operationContext(call, open), layout);
    out.done({ team: open.ref.team, layout, windows }, () => {
      if (windows === 0) return "Each teammate has its own window: there is nothing to arrange.";
      return line`${pluralized(windows, "window")}: ${layout}.`;
    });
    return EXIT.done;
  },
});

/** Returns a hint for an unknown layout; a user may have typed the team's name, which needs `--team` here. */
function hintFor(word: string, env: Env): string {
  const isTeam = teamsCalled(listTeams(teamsHome(env)), word).length > 0;
  if (isTeam)
    return `Name a layout, and the team with --team: teams layout grid ${optionWords("--team", word)}`;
  return didYouMean(word, LAYOUTS, `The layouts are ${LAYOUTS.join(", ")}.`);
}
