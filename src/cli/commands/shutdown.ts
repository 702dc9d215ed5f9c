import { UNPROVEN_END } from "../../operations/ending/remove-member.ts";
import {
  SHUTDOWN_TIMEOUT,
  type ShutdownReport,
  shutdownTeammates,
} from "../../operations/ending/shutdown.ts";
import { withWorktreeEnds } from "../../operations/ending/worktree-report.ts";
import { operationContext } from "../../runtime/operation-context.ts";
import { memberByAddress, openTeam } from "../../runtime/select-team.ts";
import { LEAD_NAME, splitAddress } from "../../schema/names.ts";
import { memberWord } from "../../team/address-words.ts";
import type { TeamRef } from "../../team/ref.ts";
import { stayLines } from "../../terminal/adopted-text.ts";
import { line } from "../../terminal/output.ts";
import { exitOfShutdowns } from "../../terminal/report-error.ts";
import { keptLines } from "../../terminal/worktree-text.ts";
import { defineCommand, usageError } from "../command.ts";
import { secondsOption } from "../option-values.ts";
export const command = defineCommand({
  name: "shutdown",
  summary: "Ask teammates to shut down, and wait until they have ended",
  args: [{ name: "agent", summary: "the teammates: name or name@team", optional: true, many: true }],
  options: {
    all: { summary: "ask every teammate" },
    timeout: { value: "seconds", summary: `how long to wait (default: ${SHUTDOWN_TIMEOUT / 1000})` },
    reason: { value: "text", summary: "why, as a message to the teammates" },
  },
  examples: [
    "teams shutdown reviewer",
    "teams shutdown --all --timeout 60",
    'teams shutdown dev --reason "The plan changed."',
  ],
  notes:
    "If a teammate refuses, it keeps running (exit 1). If it does not end in time, it is left running (exit 5); end it with `teams kill`.",
  async run(call) {
    const { args, options, io, out } = call;
    if ((args.agent.length === 0) === !options.all) {
      throw usageError(command, options.all ? "accepts names or --all, not both." : "needs names, or --all.");
    }
    const open = openTeam(io.env, options, splitAddress(args.agent[0] ?? ""));
    const names = options.all
      ? open.config.members.map(({ name }) => name).filter((name) => name !== LEAD_NAME)
      : args.agent.map((address) => memberByAddress(open.ref, open.config, address).name);
    const timeoutMs = secondsOption(options.timeout, "timeout") ?? SHUTDOWN_TIMEOUT;
    const ctx = await operationContext(call, open);
    const asked = await shutdownTeammates(ctx, names, {
      timeoutMs,
      signal: io.interruption(),
      ...(options.reason === undefined ? {} : { reason: options.reason }),
    });
    const reports = await withWorktreeEnds(ctx, open.config.members, asked);
    const left = reports.filter(({ outcome }) => outcome === "approved" || outcome === "gone");
    const stays = stayLines(open.config.members, new Set(left.map(({ name }) => name)));
    const kept = keptLines(reports.map(({ worktree }) => worktree));
    out.done({ team: open.ref.team, shutdowns: reports }, () =>
      reports.length === 0
        ? "The team has no teammates."
        : [...reports.map((report) => sentence(report, open.ref)), ...stays, ...kept].join("\n"),
    );
    return exitOfShutdowns(reports, io.interruption().aborted);
  },
});

function sentence({ name, outcome, reason, unproven }: ShutdownReport, ref: TeamRef): string {
  switch (outcome) {
    case "approved":
      if (unproven) return line`${name} ${UNPROVEN_END}`;
      return line`${name} has shut down.`;
    case "gone":
      return line`${name} had already ended.`;
    case "rejected":
      return line`${name} refused: ${reason ?? "it gave no reason"}`;
    case "timed-out":
      return line`${name} did not end in time and is still running. To end it: teams kill ${memberWord(ref, name)}`;
  }
}
