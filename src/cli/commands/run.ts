import type { Env } from "../../os/env.ts";
import { runLeadDetached } from "../../runtime/lead/detached-lead.ts";
import { runLead } from "../../runtime/lead/run-lead.ts";
import { isInSession, reportingFailure } from "../../runtime/lead/run-result.ts";
import { refuseSecondTeam } from "../../runtime/operation-context.ts";
import type { BackendType } from "../../schema/config.ts";
import { defineCommand } from "../command.ts";
import { checkRun } from "../run/check-run.ts";
import { ARGS, OPTIONS, type RunCall } from "../run/run-options.ts";
import { requireOwnTerminal } from "../run-cli.ts";
import { askTrust } from "../trust-prompt.ts";

export const command = defineCommand({
  name: "run",
  summary: "Give a goal to a lead agent, which builds a team and works with it here",
  description:
    "Give a goal to a lead agent, which builds a team and works with it here. On a terminal the run stays in conversation when the goal " +
    "is reached: type your next goal, or /exit. With -p (--once), or without a terminal, it ends.",
  args: ARGS,
  options: OPTIONS,
  examples: [
    'teams run "review this repository for security problems"',
    'teams run -p "count the words of README.md"',
    "teams run --resume --team docs",
  ],
  notes:
    "Without a key (ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN) or a base URL (ANTHROPIC_BASE_URL), the built-in playbook " +
    "plays: a team audits the git repository of this directory. Everything but the thinking is real.\n" +
    "You are asked about each action that no rule and no --permission-mode allows, and the run waits for your answer. Answer in the pane, " +
    "or without a terminal with teams approvals and teams approve.\n" +
    "A run that ends with all its tasks done deletes its team. After any other end (Ctrl-C, /exit, a model error) it keeps the members, " +
    "tasks and conversations, and prints how to continue. Only the team of the built-in playbook, which cannot be resumed, is " +
    "always deleted; --keep keeps its files.",
  run: (call) => startRun(call),
});

async function startRun(call: RunCall): Promise<number> {
  const { io, options, out } = call;
  refuseSecondTeam(call, "run another team");
  return reportingFailure(io.env, async () => {
    const { plan, goal, backend, notes } = await checkRun(call);
    for (const text of notes) out.note(text);
    // A detached session may have no user to ask; in a session that teams opened, the user was asked before.
    if (!options.detach && !isInSession(io.env)) await askTrust(call);
    if (!wantsSession(call, backend)) {
      if (plan.cli !== undefined) requireOwnTerminal(call, plan.cli, backend);
      return runLead(call, plan);
    }
    return runLeadDetached(call, plan, { attach: !options.detach, goal });
  });
}

/** Whether the run needs a new tmux session: with `--detach`, else for a terminal outside tmux, with the lead in its first pane. */
function wantsSession({ options, out, io }: RunCall, backend: BackendType): boolean {
  if (options.detach) return true;
  // The team may have its own session already, with its teammates in it.
  if (options.resume) return false;
  const isForSession = backend === "tmux" && !io.env.TMUX && !out.json;
  return isForSession && io.terminal.stdin && io.terminal.stdout && canBeAttached(io.env);
}

/** tmux cannot draw on a terminal of unknown type, or on a dumb one. */
function canBeAttached({ TERM }: Env): boolean {
  return Boolean(TERM) && TERM !== "dumb" && TERM !== "unknown";
}
