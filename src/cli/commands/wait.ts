import { EXIT, TeamError } from "../../errors.ts";
import { follow } from "../../operations/follow-team.ts";
import { type MemberStatus, type TeamStatus, teamStatus } from "../../operations/status.ts";
import { awaitedMembers, unmetCondition, type WaitCondition } from "../../operations/wait-condition.ts";
import { filesContext } from "../../runtime/operation-context.ts";
import { memberByAddress, openTeam } from "../../runtime/select-team.ts";
import { sameName, splitAddress } from "../../schema/names.ts";
import { line, type Output } from "../../terminal/output.ts";
import { brokenTasksNote } from "../../terminal/status-line.ts";
import { defineCommand } from "../command.ts";
import { secondsOption } from "../option-values.ts";

export const command = defineCommand({
  name: "wait",
  summary: "Wait until teammates are idle, tasks are completed, or a message arrives",
  args: [
    {
      name: "agent",
      summary: "the members that must be idle (default: all teammates)",
      optional: true,
      many: true,
    },
  ],
  options: {
    idle: { summary: "until the members are idle (the default)" },
    tasks: { summary: "until all tasks are completed" },
    message: { summary: "until the lead (or --as) has an unread message" },
    timeout: { value: "seconds", summary: "give up after this time (exit 5; default: no limit)" },
  },
  examples: ["teams wait", "teams wait reviewer tester --timeout 300", "teams wait --tasks --message"],
  notes:
    "With several of --idle, --tasks and --message, all must be true. A wait for idle members also ends if one of them crashes, or a turn of another program's member fails (exit 1).",
  async run(call) {
    const { args, options, io, out } = call;
    const open = openTeam(io.env, options, splitAddress(args.agent[0] ?? ""));
    const names = args.agent.map((address) => memberByAddress(open.ref, open.config, address).name);
    const condition: WaitCondition = {
      idle: options.idle || names.length > 0 || !(options.tasks || options.message),
      tasks: options.tasks,
      message: options.message,
      names,
    };
    const ctx = filesContext(call, open);
    let status = await teamStatus(ctx);
    if (condition.tasks && status.tasks.broken) out.note(brokenTasksNote(status.tasks.broken));
    const noted = new Set<string>();
    const outcome = await follow(
      open.ref,
      async () => {
        status = await teamStatus(ctx);
        if (unmetCondition(status, condition, ctx) === undefined) return true;
        noteBlockedMembers(status, condition, noted, out);
        return false;
      },
      { signal: io.interruption(), timeoutMs: secondsOption(options.timeout, "timeout") },
    );
    if (outcome === "interrupted") return EXIT.interrupted;
    if (outcome === "timeout") {
      throw new TeamError(
        "TIMEOUT",
        `After ${options.timeout} s ${unmetCondition(status, condition, ctx)}.`,
        {
          hint: "See what the members are doing: teams status",
        },
      );
    }
    const unread = status.members.find((member) => member.name === open.actor)?.unread ?? 0;
    out.done({ ...resultJson(status), unread }, () => line`${describe(status, condition, unread)}`);
    return EXIT.done;
  },
});

/** Notes once for each state of a member why the command could wait forever. */
function noteBlockedMembers(
  status: TeamStatus,
  { tasks, message, names }: WaitCondition,
  noted: Set<string>,
  out: Output,
): void {
  // Any member may be the one that has to complete a task or to write.
  for (const member of awaitedMembers(status, tasks || message ? [] : names)) {
    const text = blockText(member, status);
    const key = `${member.name} ${member.state}`;
    if (text === undefined || noted.has(key)) continue;
    noted.add(key);
    out.note(line`${text}`);
  }
}

function blockText({ name, state, activity }: MemberStatus, { approvals }: TeamStatus): string | undefined {
  const isAsked = approvals.some(({ from }) => sameName(from, name));
  switch (state) {
    case "paused":
      return `${name} is paused: ${activity}`;
    case "needs-input":
    case "awaiting-approval":
      return `${name} is waiting for you: ${isAsked || activity === "" ? "teams approvals" : activity}`;
    case "crashed":
      return `${name} has crashed: ${isAsked ? "teams approvals" : "teams status"}`;
    case "failed":
      return `The last turn of ${name} failed: ${activity}`;
    default:
      return undefined;
  }
}

function resultJson({ team, members, tasks }: TeamStatus): object {
  return {
    team,
    members: members.map(({ name, state }) => ({ name, state })),
    tasks: {
      total: tasks.list.length,
      completed: tasks.completed,
      ...(tasks.broken && { broken: tasks.broken }),
    },
  };
}

function describe(status: TeamStatus, condition: WaitCondition, unread: number): string {
  const idle = awaitedMembers(status, condition.names).map(({ name, state }) => `${name} is ${state}`);
  return [
    ...(condition.idle ? [idle.length === 0 ? "there are no teammates" : idle.join(", ")] : []),
    ...(condition.tasks ? [completedText(status.tasks.completed)] : []),
    ...(condition.message ? [`${unread} unread`] : []),
  ].join("; ");
}

function completedText(count: number): string {
  return count === 1 ? "1 task is completed" : `${count} tasks are completed`;
}
