import { livenessOf } from "../os/identity.ts";
import type { TeamConfig, TeamMember } from "../schema/config.ts";
import { LEAD_NAME } from "../schema/names.ts";
import type { AgentState, PlaceRecord, TokenCount } from "../schema/status.ts";
import { NO_TOKENS } from "../schema/status.ts";
import type { Task } from "../schema/task.ts";
import { readTeam } from "../team/config.ts";
import { type AgentExit, judge } from "../team/liveness.ts";
import { unreadCount } from "../team/mailbox.ts";
import { readExit, readPlace, readStatus } from "../team/records.ts";
import { listTasks } from "../team/tasks.ts";
import { type Approval, listApprovals } from "./approvals.ts";
import type { LeadContext } from "./context.ts";

/** What `teams status --json` prints (product.md). */
export interface TeamStatus {
  readonly team: string;
  /** null where no lead process exists: a person or a script leads. */
  readonly leadAlive: boolean | null;
  readonly members: readonly MemberStatus[];
  readonly tasks: TaskSummary;
  readonly approvals: readonly Approval[];
}

export interface MemberStatus {
  readonly name: string;
  readonly agentId: string;
  readonly agentType: string | null;
  readonly model: string | null;
  readonly color: string | null;
  readonly backend: string | null;
  readonly state: AgentState;
  readonly activity: string;
  readonly paneId: string | null;
  /** The agent's own process, not the launch script. */
  readonly pid: number | null;
  /** null where this machine cannot judge it. */
  readonly alive: boolean | null;
  readonly cwd: string;
  readonly worktree: string | null;
  readonly taskIds: readonly string[];
  readonly unread: number;
  readonly tokens: TokenCount;
  readonly costUsd: number;
  readonly startedAt: number | null;
  readonly lastActivityAt: number | null;
  readonly exit: AgentExit | null;
}

export interface TaskSummary {
  readonly pending: number;
  readonly inProgress: number;
  readonly completed: number;
  /** Of the pending ones, those whose blockers are not all completed. */
  readonly blocked: number;
  readonly list: readonly Task[];
}

/** Everything that is known of a team, from files, processes and at most one look at tmux. */
export async function teamStatus(ctx: LeadContext): Promise<TeamStatus> {
  const config = readTeam(ctx.ref);
  const tasks = listTasks(ctx.ref);
  const present = await presentInstances(ctx, config);
  return {
    team: config.name,
    leadAlive: leadAlive(config),
    members: config.members.map((member) => memberStatus(ctx, member, tasks, present)),
    tasks: summarize(tasks),
    approvals: listApprovals(ctx.ref),
  };
}

/** Counts by state; the list keeps the order of ids. */
export function summarize(tasks: readonly Task[]): TaskSummary {
  const completed = new Set(tasks.filter((task) => task.status === "completed").map((task) => task.id));
  const known = new Set(tasks.map((task) => task.id));
  const isBlocked = (task: Task): boolean => task.blockedBy.some((id) => known.has(id) && !completed.has(id));
  const pending = tasks.filter((task) => task.status === "pending");
  return {
    pending: pending.length,
    inProgress: tasks.filter((task) => task.status === "in_progress").length,
    completed: completed.size,
    blocked: pending.filter(isBlocked).length,
    list: tasks,
  };
}

function leadAlive(config: TeamConfig): boolean | null {
  if (config.leadProcess === undefined) return null;
  const liveness = livenessOf(config.leadProcess);
  return liveness === "unknown" ? null : liveness === "alive";
}

async function presentInstances(ctx: LeadContext, config: TeamConfig): Promise<ReadonlySet<string>> {
  const byBackend = new Map<string, PlaceRecord[]>();
  for (const { name } of config.members) {
    const place = readPlace(ctx.ref, name);
    if (place !== undefined) byBackend.set(place.backend, [...(byBackend.get(place.backend) ?? []), place]);
  }
  const present = new Set<string>();
  for (const [type, places] of byBackend) {
    for (const instance of (await ctx.backends.of(type)?.present(places)) ?? []) present.add(instance);
  }
  return present;
}

function memberStatus(
  ctx: LeadContext,
  member: TeamMember,
  tasks: readonly Task[],
  present: ReadonlySet<string>,
): MemberStatus {
  const { name } = member;
  const status = readStatus(ctx.ref, name);
  const place = readPlace(ctx.ref, name);
  const verdict = judge(member, {
    status,
    place,
    exit: readExit(ctx.ref, name),
    presentInstances: present,
  });
  const hasPlace = place !== undefined && present.has(place.instance);
  return {
    name,
    agentId: member.agentId,
    agentType: member.agentType ?? null,
    model: member.model ?? null,
    color: name === LEAD_NAME ? null : (member.color ?? null),
    backend: member.backendType ?? null,
    state: verdict.state,
    activity: verdict.alive === false ? "" : (status?.activity ?? ""),
    paneId: hasPlace ? (place.paneId ?? null) : (status?.paneId ?? null),
    pid: verdict.alive === false ? null : (status?.process.pid ?? null),
    alive: verdict.alive,
    cwd: member.cwd,
    worktree: member.worktreePath ?? null,
    taskIds: tasks
      .filter((task) => task.owner === name && task.status === "in_progress")
      .map((task) => task.id),
    unread: unreadCount(ctx.ref, name),
    tokens: status?.tokens ?? NO_TOKENS,
    costUsd: status?.costUsd ?? 0,
    startedAt: status?.startedAt ?? null,
    lastActivityAt: status?.lastActivityAt ?? null,
    exit: verdict.exit,
  };
}
