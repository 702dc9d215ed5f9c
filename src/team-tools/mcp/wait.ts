import * as z from "zod/mini";
import { follow } from "../../operations/follow-team.ts";
import { type MemberStatus, teamStatus } from "../../operations/status.ts";
import { pause } from "../../os/clock.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { Task } from "../../schema/task.ts";
import { readTeam } from "../../team/config/config.ts";
import { unreadCount } from "../../team/mailbox/receive.ts";
import { findMember } from "../../team/members/members.ts";
import { withLapsedUnassigned } from "../../team/tasks/lease.ts";
import { listTasks, ownerName } from "../../team/tasks/tasks.ts";
import { jsonResult, withRefusals } from "../context.ts";
import type { ClientCall, ClientTool, ClientToolContext } from "./client-tool.ts";

/** Seconds; common clients end a call after 60. */
const MAX_SECONDS = 55;
/** Milliseconds between two signs of life. */
const PROGRESS_MS = 5_000;

const EVENTS = ["message", "idle", "free_task", "all_tasks_done"] as const;
type Event = (typeof EVENTS)[number];

const input = z.object({
  for: z
    ._default(z.array(z.enum(EVENTS)).check(z.minLength(1)), ["message"])
    .check(
      z.describe(
        "The call ends at the first of these: message (you have an unread message), idle (the agents are idle), free_task (a task can be claimed), all_tasks_done",
      ),
    ),
  agents: z
    .optional(z.array(z.string()).check(z.maxLength(100)))
    .check(z.describe("For idle: these members; all other teammates by default")),
  timeout_seconds: z
    ._default(z.number().check(z.minimum(0), z.maximum(MAX_SECONDS)), 30)
    .check(z.describe(`At most ${MAX_SECONDS}; call it again to wait longer`)),
});
type Call = z.infer<typeof input>;

export const wait: ClientTool = (context) => ({
  name: "Wait",
  description:
    "Waits until something happens, for a limited time, without cost. No message arrives unasked: Wait, then ReadMessages. `happened` is empty when the time is over.",
  input,
  readOnly: true,
  execute: (call: Call, { signal, progress }) =>
    withRefusals(async () => {
      const { ctx } = context;
      const agents = awaitedAgents(context, call.agents);
      let happened: readonly Event[] = [];
      const ended = new AbortController();
      const shown = showProgress({ signal: ended.signal, progress });
      try {
        const outcome = await follow(
          ctx.ref,
          async () => {
            happened = await eventsOf(context, call.for, agents);
            return happened.length > 0;
          },
          { signal, timeoutMs: call.timeout_seconds * 1_000 },
        );
        if (outcome === "interrupted") signal.throwIfAborted();
      } finally {
        ended.abort();
        await shown;
      }
      const unread = unreadCount(ctx.ref, ctx.actor);
      return jsonResult({ happened, ...(context.withoutInbox ? {} : { unread_messages: unread }) });
    }),
});

async function showProgress({ signal, progress }: ClientCall): Promise<void> {
  do progress("waiting");
  while ((await pause(PROGRESS_MS, signal)) === "elapsed");
}

/** @throws TeamError AGENT_NOT_FOUND */
function awaitedAgents(
  { ctx }: ClientToolContext,
  named: readonly string[] | undefined,
): Set<string> | undefined {
  if (named === undefined || named.length === 0) return undefined;
  const config = readTeam(ctx.ref);
  return new Set(named.map((name) => findMember(config, name).name));
}

/** Returns the events of the list that are true now. */
async function eventsOf(
  { ctx }: ClientToolContext,
  wanted: readonly Event[],
  agents: ReadonlySet<string> | undefined,
): Promise<readonly Event[]> {
  const tasks = wanted.some((event) => event !== "message" && event !== "idle")
    ? withLapsedUnassigned(listTasks(ctx.ref))
    : [];
  const members = wanted.includes("idle") ? (await teamStatus(ctx)).members : [];
  const isTrue: Readonly<Record<Event, () => boolean>> = {
    message: () => unreadCount(ctx.ref, ctx.actor) > 0,
    idle: () => members.filter((one) => isAwaited(one, ctx.actor, agents)).every(isIdle),
    free_task: () => tasks.some((task) => isFree(task, tasks)),
    all_tasks_done: () => tasks.every(({ status }) => status === "completed"),
  };
  return wanted.filter((event) => isTrue[event]());
}

function isAwaited({ name }: MemberStatus, self: string, agents: ReadonlySet<string> | undefined): boolean {
  return agents === undefined ? name !== LEAD_NAME && name !== self : agents.has(name);
}

/** A member with an unread message is not idle: its turn is about to begin. An ended one does no more work. */
function isIdle({ state, unread }: MemberStatus): boolean {
  return (state === "idle" && unread === 0) || state === "exited" || state === "crashed";
}

/** Whether a task has no owner, and no blocker that is open. */
function isFree(task: Task, tasks: readonly Task[]): boolean {
  if (task.status !== "pending" || ownerName(task) !== undefined || task.metadata?._internal) return false;
  const open = new Set(tasks.filter(({ status }) => status !== "completed").map(({ id }) => id));
  return !task.blockedBy.some((id) => open.has(id));
}
