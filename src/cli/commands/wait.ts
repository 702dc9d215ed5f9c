import { EXIT, TeamError } from "../../errors.ts";
import type { OperationContext } from "../../operations/context.ts";
import { follow } from "../../operations/follow-team.ts";
import { type MemberStatus, type TeamStatus, teamStatus } from "../../operations/status.ts";
import { filesContext } from "../../runtime/operation-context.ts";
import { memberByAddress, openTeam } from "../../runtime/select-team.ts";
import { LEAD_NAME, sameName, splitAddress } from "../../schema/names.ts";
import { memberWord } from "../../team/address-words.ts";
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
    timeout: { value: "seconds", summary: "give up after this time (exit 5)" },
  },
  examples: ["teams wait", "teams wait reviewer tester --timeout 300", "teams wait --tasks --message"],
  notes:
    "With several of --idle, --tasks and --message, all must be true. The wait ends if one of the members crashes, or a turn of another program's member fails (exit 1).",
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
        noteWaitingRequests(status, condition, noted, out);
        return unmetCondition(status, condition, ctx) === undefined;
      },
      { signal: io.interruption(), timeoutMs: secondsOption(options.timeout, "timeout") },
    );
    if (outcome === "interrupted") return EXIT.interrupted;
    if (outcome === "timeout") {
      throw new TeamError(
        "TIMEOUT",
        `After ${options.timeout} s ${unmetCondition(status, condition, ctx)}.`,
        {
          hint: "See what they do: teams status",
        },
      );
    }
    const unread = status.members.find((member) => member.name === open.actor)?.unread ?? 0;
    out.done({ ...resultJson(status), unread }, () => line`${describe(status, condition, unread)}`);
    return EXIT.done;
  },
});

interface WaitCondition {
  readonly idle: boolean;
  readonly tasks: boolean;
  readonly message: boolean;
  /** The members that must be idle; empty: all teammates. */
  readonly names: readonly string[];
}

/**
 * Describes the first part of the condition that is not met yet, as the rest of a sentence; undefined if all parts are met.
 * @throws TeamError RECIPIENT_INACTIVE if a member of the condition crashed, MODEL_ERROR if its turn failed: it will not become idle
 */
function unmetCondition(
  status: TeamStatus,
  condition: WaitCondition,
  ctx: OperationContext,
): string | undefined {
  const busy = condition.idle
    ? awaitedMembers(status, condition.names).filter((member) => !isIdle(member, ctx))
    : [];
  if (busy.length > 0) return busy.map(({ name, state }) => `${name} is ${state}`).join(", ");
  const open = status.tasks.list.length - status.tasks.completed;
  if (condition.tasks && open > 0) return `${open} of ${status.tasks.list.length} tasks are not completed`;
  const unread = status.members.find((member) => member.name === ctx.actor)?.unread ?? 0;
  return condition.message && unread === 0 ? `there is no message for ${ctx.actor}` : undefined;
}

/** Notes once for each member that it waits for the user: the command could wait forever. */
function noteWaitingRequests(
  status: TeamStatus,
  condition: WaitCondition,
  noted: Set<string>,
  out: Output,
): void {
  for (const { name, state, activity } of condition.idle ? awaitedMembers(status, condition.names) : []) {
    if (state === "paused" && !noted.has(name)) {
      noted.add(name);
      out.note(line`${name} is paused: ${activity}`);
    }
    if ((state !== "needs-input" && state !== "awaiting-approval") || noted.has(name)) continue;
    noted.add(name);
    const isAsked = status.approvals.some(({ from }) => sameName(from, name));
    out.note(line`${name} waits for you: ${isAsked || activity === "" ? "teams approvals" : activity}`);
  }
}

function awaitedMembers({ members }: TeamStatus, names: readonly string[]): MemberStatus[] {
  const all = members.filter(({ name }) => name !== LEAD_NAME);
  return names.length === 0 ? all : members.filter(({ name }) => names.includes(name));
}

/**
 * A member with an unread message is not idle: its turn is about to begin.
 * @throws TeamError RECIPIENT_INACTIVE if it crashed, MODEL_ERROR if its last turn failed
 */
function isIdle(
  { name, state, stateFrom, exit, unread, activity }: MemberStatus,
  { ref, env }: OperationContext,
): boolean {
  if (state === "failed") {
    throw new TeamError("MODEL_ERROR", `The last turn of ${name} failed: ${activity.replace(/\.$/, "")}.`, {
      hint: `See its screen: teams peek ${memberWord(ref, name, env)}. The next message to it starts a new turn.`,
    });
  }
  if (state === "crashed") {
    const how = exit?.signal ?? (exit?.code == null ? "" : `exit code ${exit.code}`);
    throw new TeamError(
      "RECIPIENT_INACTIVE",
      `${name} crashed${how === "" ? "" : ` (${how})`}, so it will not become idle.`,
      {
        // Of a foreign member, only the end of its process is known.
        hint:
          stateFrom === undefined
            ? `See its last lines with teams status --json, or end it: teams kill ${memberWord(ref, name, env)}`
            : `Start it again in its pane, or remove it: teams kill ${memberWord(ref, name, env)}`,
      },
    );
  }
  return (state === "idle" && unread === 0) || state === "exited";
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
    ...(condition.tasks ? [`${status.tasks.completed} tasks are completed`] : []),
    ...(condition.message ? [`${unread} unread`] : []),
  ].join("; ");
}
