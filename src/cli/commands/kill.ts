import { EXIT } from "../../errors.ts";
import { deleteTeam } from "../../operations/ending/delete-team.ts";
import { KILL_TIMEOUT, type KillReport, killEverybody, killTeammates } from "../../operations/ending/kill.ts";
import { operationContext, refuseForeignTeam } from "../../runtime/operation-context.ts";
import { resolveTarget } from "../../runtime/select-team.ts";
import { line } from "../../terminal/paint.ts";
import { keptLines } from "../../terminal/worktree-text.ts";
import { defineCommand } from "../define-command.ts";
import { secondsOption } from "../option-values.ts";
import { usageError } from "../parse-args.ts";

export const command = defineCommand({
  name: "kill",
  summary: "End a teammate or a whole team: ask, then signals, then its pane and membership",
  args: [{ name: "name", summary: "an agent or a team; with --team alone the team", optional: true }],
  options: {
    timeout: {
      value: "seconds",
      summary: `how long to ask before signals; ${KILL_TIMEOUT / 1000} by default`,
    },
    force: { summary: "do not ask the agent first" },
    discardWorktree: { summary: "remove its worktree with all that is in it; the branch stays" },
    purge: { summary: "of a team: remove its tasks and inboxes too" },
  },
  examples: ["teams kill reviewer", "teams kill review --purge", "teams kill reviewer@review --force"],
  notes:
    "Tasks and inboxes stay, unless --purge. A worktree goes when nothing in it is changed or untracked and its commits are on another branch or a remote; otherwise it stays and is named.",
  async run(call) {
    const { args, options, io, out } = call;
    if (args.name === undefined && options.team === undefined) {
      throw usageError(command, "needs an agent, a team, or --team.");
    }
    const target = resolveTarget(io.env, options, args.name);
    if (options.purge && target.kind === "member")
      throw usageError(command, "takes --purge for a whole team only.");
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
        : await killEverybody(ctx, how);
    const worktrees = reports.flatMap(({ worktree }) => worktree ?? []);
    const all = options.purge ? await deleteTeam(ctx, { force: true, worktrees }) : worktrees;
    const { team } = target.open.ref;
    out.done({ team, kills: reports, worktrees: all, purged: options.purge }, () =>
      [
        ...reports.map(sentence),
        ...(reports.length === 0 ? ["Nobody but the lead was there."] : []),
        ...keptLines(all),
        ...(options.purge ? [line`Team ${team} is deleted.`] : []),
      ].join("\n"),
    );
    return reports.some(({ left }) => left.length > 0) ? EXIT.failed : EXIT.done;
  },
});

function sentence({ name, outcome, left }: KillReport): string {
  const still = left.length === 0 ? "" : ` These processes could not be ended: ${left.join(", ")}.`;
  switch (outcome) {
    case "shut down":
      return line`${name} has shut down.${still}`;
    case "killed":
      return line`${name} was ended by signals.${still}`;
    case "gone":
      return line`${name} had already ended; it is no longer a member.${still}`;
    case "out of reach":
      return line`${name} is no longer a member; if it still runs where it was started, no signal reached it there.`;
  }
}
