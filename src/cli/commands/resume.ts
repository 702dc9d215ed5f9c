import { TEAMMATE_MODES } from "../../backend/choose-backend.ts";
import { EXIT } from "../../errors.ts";
import { type ResumedMember, type ResumeReport, resumeTeam } from "../../operations/resume/resume.ts";
import { type ResumedPause, resumePaused } from "../../operations/resume/resume-paused.ts";
import { filesContext, openOwnTeam, operationContext } from "../../runtime/operation-context.ts";
import { defined } from "../../schema/defined.ts";
import { splitAddress } from "../../schema/names.ts";
import { loadSettings } from "../../settings/settings.ts";
import { memberWord } from "../../team/address-words.ts";
import type { TeamRef } from "../../team/ref.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { line, type Output } from "../../terminal/output.ts";
import { exitOfResume } from "../../terminal/report-error.ts";
import { operand, optionWords } from "../../text/shell-quote.ts";
import { defineCommand, usageError } from "../command.ts";
import { noteIgnored } from "../trust-prompt.ts";

export const command = defineCommand({
  name: "resume",
  summary: "Resume a team: running members continue, dead ones restart with their conversation",
  args: [{ name: "name", summary: "the team; with --now a member", optional: true }],
  options: {
    teammateMode: {
      value: "mode",
      summary: "where restarted teammates live (default: where they lived before)",
      choices: TEAMMATE_MODES,
    },
    now: {
      summary:
        "let paused members, or this member, try again now, even if their account's limit still applies",
    },
    force: {
      summary: "allow changing a team created by another program, or one whose lead may run elsewhere",
    },
  },
  examples: ["teams resume", "teams resume review --teammate-mode process --json", "teams resume --now dev"],
  notes:
    "Use it after a lost lead, a closed pane, a crash, tmux kill-server, a reboot, or teams down. Each teammate keeps its " +
    "conversation, its unread messages, and its tasks unless another member has claimed them. A second call does not start an agent twice.",
  async run(call) {
    const { args, options, io, out } = call;
    if (options.now && options.teammateMode !== undefined)
      throw usageError(command, "accepts --now or --teammate-mode, not both.");
    if (options.now) return resumeNow(call, args.name, options);
    const open = openOwnTeam(io.env, options, args.name);
    const settings = loadSettings(open.home.root, io.cwd);
    noteIgnored(out, settings);
    const background: Promise<unknown>[] = [];
    const report = await resumeTeam(
      await operationContext(call, open, settings),
      defined({
        mode: options.teammateMode,
        force: options.force,
        background: (work: Promise<unknown>) => background.push(work),
      }),
    );
    const { team } = open.ref;
    out.done({ team, ...report }, () => text(out, team, report));
    await Promise.all(background);
    return exitOfResume(report.members);
  },
});

/** @param address of a member; undefined: all paused members */
async function resumeNow(
  call: AnyCall,
  address: string | undefined,
  options: Parameters<typeof openOwnTeam>[1],
): Promise<number> {
  const open = openOwnTeam(
    call.io.env,
    options,
    address === undefined ? undefined : splitAddress(address).team,
  );
  const members = await resumePaused(filesContext(call, open), address);
  call.out.done({ team: open.ref.team, members }, () =>
    members.length === 0
      ? "No member is paused."
      : members.map((one) => pauseSentence(one, open.ref)).join("\n"),
  );
  return EXIT.done;
}

function pauseSentence({ name, outcome }: ResumedPause, ref: TeamRef): string {
  if (outcome === "resumed") return line`${name} tries again now.`;
  if (outcome === "not-paused") return line`${name} is not paused.`;
  return line`${name} has used up its budget, and continues once you raise it: teams budget ${memberWord(ref, name)} --max-tokens <tokens>`;
}

function text(out: Output, team: string, { lead, unread, members }: ResumeReport): string {
  const teamOption = optionWords("--team", team);
  const running = members.filter(({ outcome }) => outcome === "alive" || outcome === "restarted");
  const hasPanes = running.some(({ paneId }) => paneId !== null);
  const panes = hasPanes ? `Their panes: teams attach ${teamOption}   their` : "Their";
  return [
    ...leadLine(lead, team),
    ...members.map((member) => sentence(out, member)),
    ...(members.length === 0 ? ["The team has no teammates."] : []),
    ...(unread === 0 || lead === "process"
      ? []
      : [
          `${unread === 1 ? "1 message is" : `${unread} messages are`} waiting for you: teams inbox ${teamOption}`,
        ]),
    ...(running.length > 0 ? [line`${panes} states: teams status ${teamOption}`] : []),
  ].join("\n");
}

function leadLine(lead: ResumeReport["lead"], team: string): string[] {
  if (lead === "taken")
    return [
      line`The lead's process had ended: you now lead ${team}. To let its model lead again: teams run --resume ${optionWords("--team", team)}`,
    ];
  if (lead === "unknown")
    return [
      line`The lead of ${team} may run on another machine or in another container, so it stays the lead. To lead the team yourself: teams resume ${operand(team)} --force`,
    ];
  return [];
}

function sentence(out: Output, member: ResumedMember): string {
  const name = member.color === null ? member.name : out.styleText(member.name, { member: member.color });
  const place = member.paneId === null ? (member.backend ?? "no pane") : `pane ${member.paneId}`;
  switch (member.outcome) {
    case "alive":
      return line`${name} is still running: ${place}, pid ${member.pid ?? "?"}.`;
    case "restarted": {
      const tasks = member.taskIds.map((id) => `#${id}`).join(" ");
      const conversation = member.conversation === null ? "" : " with its conversation";
      const held = tasks === "" ? "" : `${conversation === "" ? " with" : " and"} ${tasks}`;
      return line`${name} was restarted${conversation}${held}: ${place}, pid ${member.pid ?? "?"}.`;
    }
    case "failed":
      return line`${name} could not be restarted: ${member.error?.message ?? "no reason was given"} ${member.error?.hint ?? ""}`.trimEnd();
    case "down":
      return line`${name} is down: another teams resume began to restart it and failed. Run teams resume again.`;
    case "unknown":
      return line`${name} may run on another machine or in another program, so it was not restarted.`;
  }
}
