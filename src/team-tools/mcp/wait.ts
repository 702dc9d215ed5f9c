import * as z from "zod/mini";
import { listApprovals } from "../../operations/approvals/approvals.ts";
import { openForeignRequests } from "../../operations/approvals/foreign-requests.ts";
import { follow } from "../../operations/follow-team.ts";
import { type MemberStatus, teamStatus, withProblems } from "../../operations/status.ts";
import { isAtRest } from "../../operations/wait-condition.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam } from "../../team/config/config.ts";
import { findMember } from "../../team/members/members.ts";
import { listTasks } from "../../team/tasks/tasks.ts";
import { hasClaimable } from "../../team/tasks/touches.ts";
import { jsonResult, withRefusals } from "../context.ts";
import type { ClientTool, ClientToolContext } from "./client-tool.ts";
import { keepShown } from "./list-requests.ts";
import { withProgress } from "./progress.ts";
import { reconcileForLead } from "./reconcile-for-lead.ts";

/** Seconds. Many clients end a call after 60, unless it reports progress. */
const MAX_SECONDS = 300;
const DEFAULT_SECONDS = 30;

const EVENTS = ["message", "request", "idle", "free_task", "all_tasks_done"] as const;
type Event = (typeof EVENTS)[number];

const input = z.object({
  for: z
    .optional(z.array(z.enum(EVENTS)).check(z.minLength(1), z.maxLength(EVENTS.length)))
    .check(
      z.describe(
        "The call ends at the first of these: message (you have an unread message), request (a plan, permission or question that you have not been shown waits for an answer), idle (the agents are idle), free_task (a task can be claimed), all_tasks_done. Default: message; for a lead, also request",
      ),
    ),
  agents: z
    .optional(z.array(z.string()).check(z.maxLength(100)))
    .check(z.describe("For idle: these members; by default, all other teammates")),
  timeout_seconds: z
    ._default(z.number().check(z.minimum(0), z.maximum(MAX_SECONDS)), DEFAULT_SECONDS)
    .check(z.describe(`At most ${MAX_SECONDS}; call it again to wait longer`)),
});
type Call = z.infer<typeof input>;

const output = z.looseObject({
  happened: z.array(z.enum(EVENTS)),
  unread_messages: z.optional(z.int()),
  requests: z.optional(z.array(z.string())).check(z.describe("Ids of the open requests")),
  broken: z.optional(z.array(z.string())).check(z.describe("Ids of tasks that cannot be read")),
  problems: z.optional(z.array(z.string())),
});

export const wait: ClientTool = (context) => ({
  name: "Wait",
  description:
    "Waits for an event, for a limited time, at no cost. Messages do not arrive on their own: call Wait, then ReadMessages. `happened` is empty if the time is over.",
  hints: { title: "Wait for an event", readOnly: true },
  input,
  output,
  execute: (call: Call, clientCall) =>
    withRefusals(async () => {
      const { ctx, knownRequests, role } = context;
      const { signal } = clientCall;
      const agents = awaitedAgents(context, call.agents);
      const wanted = call.for ?? (role === "lead" ? ["message", "request"] : ["message"]);
      let happened: readonly Event[] = [];
      let broken: readonly string[] = [];
      let problems: readonly string[] = [];
      const check = async (): Promise<boolean> => {
        // This reports the end of a member as a message.
        problems = await reconcileForLead(context);
        ({ happened, broken } = await eventsOf(context, wanted, agents));
        return happened.length > 0;
      };
      const options = { signal, timeoutMs: call.timeout_seconds * 1_000 };
      const outcome = await withProgress(clientCall, "waiting", () => follow(ctx.ref, check, options));
      if (outcome === "interrupted") signal.throwIfAborted();
      const requests = happened.includes("request") ? listApprovals(ctx.ref) : undefined;
      const unread = await context.mail.waiting();
      signal.throwIfAborted();
      if (requests !== undefined) keepShown(knownRequests, requests);
      return jsonResult({
        happened,
        ...(context.withoutInbox ? {} : { unread_messages: unread }),
        ...(requests === undefined ? {} : { requests: requests.map(({ id }) => id) }),
        ...brokenField(broken),
        ...withProblems(problems),
      });
    }),
});

/** @throws TeamError AGENT_NOT_FOUND */
function awaitedAgents(
  { ctx }: ClientToolContext,
  named: readonly string[] | undefined,
): Set<string> | undefined {
  if (named === undefined || named.length === 0) return undefined;
  const config = readTeam(ctx.ref);
  return new Set(named.map((name) => findMember(config, name).name));
}

function brokenField(broken: readonly string[]): { readonly broken?: readonly string[] } {
  return broken.length === 0 ? {} : { broken };
}

/** Returns the wanted events that have happened, and the unreadable tasks, whose state is unknown. */
async function eventsOf(
  { ctx, knownRequests, mail }: ClientToolContext,
  wanted: readonly Event[],
  agents: ReadonlySet<string> | undefined,
): Promise<{ readonly happened: readonly Event[]; readonly broken: readonly string[] }> {
  const members = wanted.includes("idle") ? (await teamStatus(ctx)).members : [];
  const broken: string[] = [];
  // Read after the states: a member may create a task before it becomes idle.
  const tasks = wanted.some((event) => event === "free_task" || event === "all_tasks_done")
    ? listTasks(ctx.ref, (_, id) => broken.push(id))
    : [];
  if (wanted.includes("request")) await openForeignRequests(ctx.ref, ctx.env);
  const messages = wanted.includes("message") ? await mail.waiting() : 0;
  const isTrue: Readonly<Record<Event, () => boolean>> = {
    message: () => messages > 0,
    request: () => listApprovals(ctx.ref).some(({ id }) => !knownRequests.has(id)),
    idle: () => members.filter((one) => isAwaited(one, ctx.actor, agents)).every(isInactive),
    free_task: () => hasClaimable(ctx.ref, ctx.actor),
    all_tasks_done: () => tasks.every(({ status }) => status === "completed"),
  };
  return { happened: wanted.filter((event) => isTrue[event]()), broken };
}

function isAwaited({ name }: MemberStatus, self: string, agents: ReadonlySet<string> | undefined): boolean {
  return agents === undefined ? name !== LEAD_NAME && name !== self : agents.has(name);
}

/** A member that crashed, or whose turn failed, does no more work: TeamStatus shows the caller why. */
function isInactive(member: MemberStatus): boolean {
  return isAtRest(member) || member.state === "crashed" || member.state === "failed";
}
