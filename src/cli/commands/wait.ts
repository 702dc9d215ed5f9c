import { EXIT, TeamError } from "../../errors.ts";
import type { OperationContext } from "../../operations/context.ts";
import { type MemberStatus, type TeamStatus, teamStatus } from "../../operations/status.ts";
import { filesContext } from "../../runtime/operation-context.ts";
import { memberByAddress, openTeam } from "../../runtime/select-team.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { Output } from "../../terminal/output.ts";
import { line } from "../../terminal/paint.ts";
import { brokenTasksNote } from "../../terminal/status-text.ts";
import { operand } from "../../text/shell-quote.ts";
import { defineCommand } from "../define-command.ts";
import { follow } from "../follow-team.ts";
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
    "With several of --idle, --tasks and --message, all must be true. The wait ends if one of the members crashes (exit 1).",
  async run(call) {
    const { args, options, io, out } = call;
    const open = openTeam(io.env, options);
    const names = args.agent.map((address) => memberByAddress(open.ref, open.config, address).name);
    const wanted: WaitCondition = {
      idle: options.idle || names.length > 0 || !(options.tasks || options.message),
      tasks: options.tasks,
      message: options.message,
      names,
    };
    const ctx = filesContext(call, open);
    let status = await teamStatus(ctx);
    if (wanted.tasks && status.tasks.broken) out.note(brokenTasksNote(status.tasks.broken));
    const told = new Set<string>();
    const outcome = await follow(
      open.ref,
      async () => {
        status = await teamStatus(ctx);
        noteWaitingRequests(status, wanted, told, out);
        return unmetCondition(status, wanted, ctx) === undefined;
      },
      { signal: io.interruption(), timeoutMs: secondsOption(options.timeout, "timeout") },
    );
    if (outcome === "interrupted") return EXIT.interrupted;
    if (outcome === "timeout") {
      throw new TeamError("TIMEOUT", `After ${options.timeout} s ${unmetCondition(status, wanted, ctx)}.`, {
        hint: "See what they do: teams status",
      });
    }
    const unread = status.members.find((member) => member.name === open.actor)?.unread ?? 0;
    out.done({ ...resultJson(status), unread }, () => line`${describe(status, wanted, unread)}`);
    return EXIT.done;
  },
});

interface WaitCondition {
  readonly idle: boolean;
  readonly tasks: boolean;
  readonly message: boolean;
  /** Who is to be idle; empty: all teammates. */
  readonly names: readonly string[];
}

/**
 * What of the wanted is not so yet, as the rest of a sentence; undefined when all is.
 * @throws TeamError RECIPIENT_INACTIVE when somebody who is waited for crashed: it will not come
 */
function unmetCondition(
  status: TeamStatus,
  wanted: WaitCondition,
  ctx: OperationContext,
): string | undefined {
  const busy = wanted.idle ? awaitedMembers(status, wanted.names).filter((member) => !isIdle(member)) : [];
  if (busy.length > 0) return busy.map(({ name, state }) => `${name} is ${state}`).join(", ");
  const open = status.tasks.list.length - status.tasks.completed;
  if (wanted.tasks && open > 0) return `${open} of ${status.tasks.list.length} tasks are not completed`;
  const unread = status.members.find((member) => member.name === ctx.actor)?.unread ?? 0;
  return wanted.message && unread === 0 ? `there is no message for ${ctx.actor}` : undefined;
}

/** One that waits for a person may be waited for long: that is said once. */
function noteWaitingRequests(
  status: TeamStatus,
  wanted: WaitCondition,
  told: Set<string>,
  out: Output,
): void {
  for (const { name, state } of wanted.idle ? awaitedMembers(status, wanted.names) : []) {
    if ((state !== "needs-input" && state !== "awaiting-approval") || told.has(name)) continue;
    told.add(name);
    out.note(line`${name} waits for you: teams approvals`);
  }
}

function awaitedMembers({ members }: TeamStatus, names: readonly string[]): MemberStatus[] {
  const all = members.filter(({ name }) => name !== LEAD_NAME);
  return names.length === 0 ? all : members.filter(({ name }) => names.includes(name));
}

/** One with a message that it has yet to pick up is not: its turn is about to begin. */
function isIdle({ name, state, exit, unread }: MemberStatus): boolean {
  if (state === "crashed") {
    const how = exit?.signal ?? (exit?.code == null ? "" : `exit code ${exit.code}`);
    throw new TeamError(
      "RECIPIENT_INACTIVE",
      `${name} crashed${how === "" ? "" : ` (${how})`} while it was waited for.`,
      {
        hint: `Its last lines: teams status --json; end it: teams kill ${operand(name)}`,
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

function describe(status: TeamStatus, wanted: WaitCondition, unread: number): string {
  const idle = awaitedMembers(status, wanted.names).map(({ name, state }) => `${name} is ${state}`);
  return [
    ...(wanted.idle ? [idle.length === 0 ? "nobody works" : idle.join(", ")] : []),
    ...(wanted.tasks ? [`${status.tasks.completed} tasks are completed`] : []),
    ...(wanted.message ? [`${unread} unread`] : []),
  ].join("; ");
}
