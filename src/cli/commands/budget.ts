import { budget } from "../../operations/budget.ts";
import { knownCosts } from "../../runtime/commands/known-costs.ts";
import { filesContext } from "../../runtime/operation-context.ts";
import { resolveTarget } from "../../runtime/select-target.ts";
import { deciderOf } from "../../runtime/select-team.ts";
import { loadSettings } from "../../settings/settings.ts";
import { budgetText } from "../../team/members/budget.ts";
import { line } from "../../terminal/output.ts";
import { defineCommand } from "../command.ts";
import { BUDGET_OPTIONS, limitsFromOptions } from "../option-values.ts";

export const command = defineCommand({
  name: "budget",
  summary: "Show or change the budget of an agent or a team; agents that wait for more continue",
  args: [{ name: "name", summary: "an agent or a team (default: the whole team)", optional: true }],
  options: BUDGET_OPTIONS,
  examples: ["teams budget review", "teams budget reviewer --max-tokens 500k", "teams budget --max-cost 5"],
  notes:
    "A limit covers everything since the start. The limit of a team covers all its members, including those that have ended.\n" +
    "Tokens are counted as in teams status. A limit that you do not set stays as it is.",
  async run(call) {
    const { args, options, io, out } = call;
    const target = resolveTarget(io.env, options, args.name);
    const settings = loadSettings(target.open.home.root, io.cwd);
    const name = target.kind === "member" ? target.member.name : undefined;
    const ctx = filesContext(call, target.open);
    const decider = deciderOf(io.env);
    const { limits, spent, uncounted } = await budget(
      ctx,
      name,
      limitsFromOptions(options),
      knownCosts(settings),
      decider,
    );
    const { team } = target.open.ref;
    const value = { team, name: name ?? null, limits, spent, ...(uncounted.length > 0 && { uncounted }) };
    if (uncounted.length > 0)
      out.note(
        line`Not counted, because their programs do not report their tokens: ${uncounted.join(", ")}.`,
      );
    out.answer(value, () =>
      Object.keys(limits).length === 0
        ? line`${name ?? team} has no budget.`
        : line`${name ?? team}: ${budgetText(limits, spent)}.`,
    );
  },
});
