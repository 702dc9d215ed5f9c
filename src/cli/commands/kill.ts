import { EXIT } from "../../errors.ts";
import { deleteTeam } from "../../operations/ending/delete-team.ts";
import {
  KILL_TIMEOUT,
  type KillReport,
  killAllTeammates,
  killTeammates,
} from "../../operations/ending/kill.ts";
import { UNPROVEN_END } from "../../operations/ending/remove-member.ts";
import { operationContext, refuseForeignTeam } from "../../runtime/operation-context.ts";
import { resolveTarget } from "../../runtime/select-target.ts";
import { stayLines } from "../../terminal/adopted-text.ts";
import { line } from "../../terminal/output.ts";
import { keptLines } from "../../terminal/worktree-text.ts";
import { defineCommand, usageError } from "../command.ts";
import { secondsOption } from "../option-values.ts";
export const command = defineCommand({
  name: "kill",
  summary: "End a teammate or a whole team: ask first, then send signals, then remove pane and member",
  args: [{ name: "name", summary: "an agent or a team (only --team: the whole team)", optional: true }],
  options: {
    timeout: {
      value: "seconds",
      summary: `how long to wait before sending signals (default: ${KILL_TIMEOUT / 1000})`,
    },
    force: { summary: "send signals at once, without asking" },
    discardWorktree: { summary: "remove the worktree with everything in it; the branch stays" },
    purge: { summary: "for a team: also delete its tasks and inboxes" },
  },
  examples: ["teams kill reviewer", "teams kill review --purge", "teams kill reviewer@review --force"],
  notes:
    "Tasks and inboxes stay unless you pass --purge. A worktree is removed if it has no changed or untracked files and its commits are on " +
    "another branch, a tag or a remote. Otherwise it stays, and its path is printed.",
  async run(call) {
    const { args, options, io, out } = call;
    if (args.name === undefined && options.team === undefined) {
      throw usageError(command, "needs an agent, a team, or --team.");
    }
    const target = resolveTarget(io.env, options, args.name);
    if (options.purge && target.kind === "member")
      throw usageError(command, "accepts --purge only for a whole team.");
    refuseForeignTeam(target.open, { named: true, force: options.force });
    const ctx = await operationContext(call, target.open);
    const how = {
      timeoutMs: secondsOption(options.timeout, "timeout") ?? KILL_TIMEOUT,
      force: options.force,
      discardWorktrees: options.discardWorktree,
      signal: io.interruption(),
    };
    const reports =
      target.kind === "member"
        ? await killTeammates(ctx, [target.member.name], how)
        : await killAllTeammates(ctx, how);
    const worktrees = reports.flatMap(({ worktree }) => worktree ?? []);
    const all = options.purge
      ? await deleteTeam(ctx, { force: true, worktrees, problem: out.note })
      : worktrees;
    const { team } = target.open.ref;
    out.done({ team, kills: reports, worktrees: all, purged: options.purge }, () =>
      [
        ...reports.map(sentence),
        ...stayLines(target.open.config.members, new Set(reports.map(({ name }) => name))),
        ...(reports.length === 0 ? ["The team has no teammates."] : []),
        ...keptLines(all),
        ...(options.purge ? [line`Deleted team ${team}.`] : []),
      ].join("\n"),
    );
    return reports.some(({ left }) => left.length > 0) ? EXIT.failed : EXIT.done;
  },
});

function sentence({ name, outcome, left, unproven }: KillReport): string {
  const still = left.length === 0 ? "" : ` These processes could not be ended: ${left.join(", ")}.`;
  switch (outcome) {
    case "shut-down":
      if (unproven) return line`${name} ${UNPROVEN_END}`;
      return line`${name} has shut down.${still}`;
    case "killed":
      return line`${name} was ended by signals.${still}`;
    case "gone":
      return line`${name} had already ended; it is no longer a member.${still}`;
    case "out-of-reach":
      return line`${name} is no longer a member; teams cannot reach its process from here, so no signal was sent.`;
  }
}
