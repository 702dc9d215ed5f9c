import { UNSEEN_PROCESS } from "../../operations/ending/remove-member.ts";
import { SHUTDOWN_TIMEOUT, type ShutdownReport } from "../../operations/ending/shutdown.ts";
import { type DownOptions, downTeam } from "../../operations/resume/down.ts";
import { openOwnTeam, operationContext } from "../../runtime/operation-context.ts";
import { defined } from "../../schema/defined.ts";
import { line } from "../../terminal/output.ts";
import { exitOfShutdowns } from "../../terminal/report-error.ts";
import { operand } from "../../text/shell-quote.ts";
import { defineCommand } from "../command.ts";
import { secondsOption } from "../option-values.ts";

export const command = defineCommand({
  name: "down",
  summary: "Stop all teammates, and keep the team on disk for teams resume",
  args: [{ name: "name", summary: "the team", optional: true }],
  options: {
    timeout: { value: "seconds", summary: `how long to wait (default: ${SHUTDOWN_TIMEOUT / 1000})` },
    reason: { value: "text", summary: "why, as a message to the teammates" },
    force: { summary: "allow changing a team created by another program" },
  },
  examples: ["teams down", "teams down review --timeout 60", 'teams down review --reason "Until tomorrow."'],
  notes:
    "Teammates are asked to end, and stay members: `teams resume` restarts them with their conversations. If one refuses, it " +
    "keeps running (exit 1). If one does not end in time, it is left running (exit 5).",
  async run(call) {
    const { args, options, io, out } = call;
    const open = openOwnTeam(io.env, options, args.name);
    const how: DownOptions = defined({
      timeoutMs: secondsOption(options.timeout, "timeout"),
      reason: options.reason,
      signal: io.interruption(),
    });
    const reports = await downTeam(await operationContext(call, open), how);
    const { team } = open.ref;
    out.done({ team, shutdowns: reports }, () =>
      [
        ...reports.map(sentence),
        reports.length === 0
          ? "The team has no teammates; nothing was done."
          : line`To resume the team: teams resume ${operand(team)}`,
      ].join("\n"),
    );
    return exitOfShutdowns(reports, io.interruption().aborted);
  },
});

function sentence({ name, outcome, reason, unproven }: ShutdownReport): string {
  switch (outcome) {
    case "approved":
      if (unproven) return line`${name} agreed to end and stays in the team. ${UNSEEN_PROCESS}`;
      return line`${name} has ended and stays in the team.`;
    case "gone":
      return line`${name} had already ended; it stays in the team.`;
    case "rejected":
      return line`${name} refused: ${reason ?? "it gave no reason"}`;
    case "timed-out":
      return line`${name} did not end in time and is still running.`;
  }
}
