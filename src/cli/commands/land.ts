import { EXIT, TeamError } from "../../errors.ts";
import { landWork } from "../../operations/landing/land.ts";
import type { LandingStep } from "../../operations/landing/land-worktree.ts";
import { landingGate } from "../../runtime/landing-gate.ts";
import { filesContext } from "../../runtime/operation-context.ts";
import { deciderOf, openTeam } from "../../runtime/select-team.ts";
import { splitAddress } from "../../schema/names.ts";
import { loadSettings } from "../../settings/settings.ts";
import { landText } from "../../terminal/land-text.ts";
import { line } from "../../terminal/output.ts";
import { defineCommand, usageError } from "../command.ts";

export const command = defineCommand({
  name: "land",
  summary: "Land agents' work: rebase it in the worktree, check it, fast-forward the branch",
  args: [
    {
      name: "agent",
      summary: "agents with a worktree, landed in this order (default: all)",
      optional: true,
      many: true,
    },
  ],
  options: {
    verify: {
      value: "command",
      summary: "the check, a shell command in the worktree (default: teams.verify of the settings)",
    },
    onto: {
      value: "branch",
      summary: "the branch to land on (default: the branch that the worktree started from)",
    },
  },
  examples: ["teams land dev", "teams land dev tester --verify 'npm test'", "teams land --json"],
  notes:
    "After a conflict or a failed check the agent's task is open again, and the agent gets a message with the output; the other agents " +
    "are still landed. Your checkout changes only if it has the branch checked out and no changed files.",
  async run(call) {
    const { args, options, io, out } = call;
    const agents = args.agent ?? [];
    if (options.verify?.trim() === "") throw usageError(command, "needs a command for --verify.");
    const open = openTeam(io.env, options, splitAddress(agents[0] ?? ""));
    if (options.verify !== undefined && deciderOf(io.env) === "model")
      throw new TeamError("PERMISSION_DENIED", "An agent cannot choose the check. Nothing was landed.", {
        hint: "Omit --verify: the check is teams.verify of the user's settings.",
      });
    const ctx = filesContext(call, open);
    const settings = loadSettings(open.home.root, io.cwd);
    const gate = landingGate(ctx, settings, options.verify, (text) => out.note(line`${text}`));
    const reports = await landWork(ctx, agents, {
      onto: options.onto,
      gate,
      signal: io.interruption(),
      onStep: (agent, step, pid) => out.note(line`${agent}: ${stepText(step, gate?.command ?? "", pid)}`),
    });
    out.done({ team: ctx.ref.team, verify: gate?.command ?? null, landings: reports }, () =>
      reports.length === 0
        ? "No agent has a worktree. Spawn one with --worktree."
        : reports.map((report) => landText(report, out)).join("\n"),
    );
    if (gate === undefined && reports.some(({ outcome }) => outcome === "landed"))
      out.note("Nothing was checked: set teams.verify in your settings, or pass --verify.");
    return reports.every(({ outcome }) => outcome === "landed" || outcome === "nothing")
      ? EXIT.done
      : EXIT.failed;
  },
});

function stepText(step: LandingStep, command: string, pid: number | undefined): string {
  switch (step) {
    case "waits":
      return `waiting for another landing in this repository${pid === undefined ? "" : ` (process ${pid})`}`;
    case "rebases":
      return "rebasing";
    case "rebases-again":
      return "rebasing again, because the branch has new commits";
    case "checks":
      return `checking: ${command}`;
  }
}
