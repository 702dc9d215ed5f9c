import { EXIT, TeamError } from "../../errors.ts";
import { isWrittenHidden, setHidden } from "../../lead/hide.ts";
import { runInForeground } from "../../os/foreground.ts";
import { optionWords, shellWord } from "../../os/shell-words.ts";
import { defineCommand } from "../command.ts";
import { leadContext } from "../context.ts";
import { goToFirst, panesOfTeam } from "../go-to.ts";
import { line } from "../paint.ts";
import { resolveTarget } from "../team.ts";

export const command = defineCommand({
  name: "attach",
  summary: "Go to a teammate's pane, or to the team's",
  args: [{ name: "name", summary: "an agent or a team", optional: true }],
  options: {},
  examples: ["teams attach", "teams attach reviewer", "teams attach reviewer@review --json"],
  notes:
    "Inside tmux it switches there, else it attaches. Where it can do neither it prints the command that does. A hidden teammate is shown first.",
  async run(call) {
    const { args, options, io, out } = call;
    const target = resolveTarget(io.env, options, args.name);
    const ctx = await leadContext(call, target.open);
    const names = target.kind === "member" ? [target.member.name] : panesOfTeam(ctx);
    const who = target.kind === "member" ? target.member.name : target.open.ref.team;
    if (target.kind === "member" && isWrittenHidden(ctx, who)) await setHidden(ctx, who, false);
    const outcome = await goToFirst(ctx, names);
    if (outcome.kind === "gone") {
      throw new TeamError("RECIPIENT_INACTIVE", `${who} has no pane now.`, {
        hint: `What is known: teams status ${optionWords("--team", target.open.ref.team)}; output without a pane: teams peek`,
      });
    }
    if (outcome.kind === "switched") {
      out.done({ name: who, switched: true }, () => line`Here is ${who}.`);
      return EXIT.done;
    }
    const [program = "tmux", ...words] = outcome.argv;
    const canAttach = io.terminal.stdin && io.terminal.stdout && !io.env.TMUX && !out.json;
    if (canAttach) return runInForeground(program, words, io.env);
    out.answer({ name: who, switched: false, command: outcome.argv }, () =>
      outcome.argv.map(shellWord).join(" "),
    );
    return EXIT.done;
  },
});
