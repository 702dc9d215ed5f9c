import { livenessOf } from "../os/process/identity.ts";
import type { BudgetLimits, SpentAmount } from "../schema/budget.ts";
import type { TeamConfig, TeamMember } from "../schema/config.ts";
import { LEAD_NAME } from "../schema/names.ts";
import type { AgentState, StatusRecord } from "../schema/status.ts";
import type { Task } from "../schema/task.ts";
import type { TokenCount } from "../schema/tokens.ts";
import { NO_TOKENS } from "../schema/tokens.ts";
import { readTeam } from "../team/config/config.ts";
import { type MailCounts, mailCounts } from "../team/mailbox/mail-counts.ts";
import { limitsOf, spentByTeam } from "../team/members/budget.ts";
import { type AgentExit, judgeLiveness } from "../team/members/judge-liveness.ts";
import { currentMode } from "../team/members/permission-mode.ts";
import type { TeamRef } from "../team/ref.ts";
import { type Deadlock, findDeadlock } from "../team/tasks/deadlock.ts";
import { withLapsedUnassigned } from "../team/tasks/lease.ts";
import { listTasks, ownerName } from "../team/tasks/tasks.ts";
import { type Approval, listApprovals } from "./approvals/approvals.ts";
import { type MemberRecords, memberRecords } from "./approvals/crashes.ts";
import type { OperationContext } from "./context.ts";
import { presentInstances } from "./processes/present-instances.ts";
import type { WorktreeLook } from "./worktrees/worktree-status.ts";

/** What `teams status --json` prints (product.md). */
export interface TeamStatus {
  readonly team: string;
  /** null where no lead process exists: a person or a script leads. */
  readonly leadAlive: boolean | null;
  readonly members: readonly MemberStatus[];
  readonly tasks: TaskSummary;
  /** Why nobody can go on; null while somebody can. */
  readonly deadlock: Deadlock | null;
  readonly approvals: readonly Approval[];
  /** What all together may spend, and have; null where there is no limit. */
  readonly budget: (BudgetLimits & { readonly spent: SpentAmount }) | null;
}

export interface MemberStatus {
  readonly name: string;
  readonly agentId: string;
  readonly agentType: string | null;
  readonly model: string | null;
  /** What it may do unasked; null where nobody said. */
  readonly mode: string | null;
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
  readonly mail: MailCounts;
  readonly tokens: TokenCount;
  readonly costUsd: number;
  /** What it may spend; null where there is no limit of its own. */
  readonly budget: BudgetLimits | null;
  readonly startedAt: number | null;
  readonly lastActivityAt: number | null;
  readonly exit: AgentExit | null;
  /** Only where git was asked: its worktree, null without one. */
  readonly git?: WorktreeLook | null;
}

export interface TaskSummary {
  readonly pending: number;
  readonly inProgress: number;
  readonly completed: number;
  /** Of the pending ones, those whose blockers are not all completed. */
  readonly blocked: number;
  readonly list: readonly Task[];
  /** Numbers of those whose files cannot be read, which the list lacks; left out where there are none. */
  readonly broken?: readonly string[];
}

/**
 * Everything that is known of a team, from files, processes and at most one look at tmux.
 * @param options.git asks git of each worktree; nothing else forks it
 */
export async function teamStatus(
  ctx: OperationContext,
  { git = false }: { readonly git?: boolean } = {},
): Promise<TeamStatus> {
  const config = readTeam(ctx.ref);
  const broken: string[] = [];
  const tasks = withLapsedUnassigned(listTasks(ctx.ref, (_, id) => broken.push(id)));
  const records = memberRecords(ctx.ref, config);
  const present = await presentInstances(
    ctx,
    records.flatMap(({ place }) => place ?? []),
  );
  const begun = begunTasks(tasks);
  const looks = git ? await worktreeLooks(ctx) : undefined;
  const members = records.map((known) => ({
    ...memberStatus(ctx.ref, known, begun, present),
    ...(looks && { git: looks.get(known.member.name) ?? null }),
  }));
  const hasForeign = records.some(({ member, status }) => status === undefined && member.name !== LEAD_NAME);
  if (hasForeign) (await import("./approvals/foreign-requests.ts")).openForeignRequests(ctx.ref);
  const alive = leadAlive(config);
  const limits = limitsOf(config);
  return {
    team: config.name,
    leadAlive: alive,
    members,
    tasks: summarize(tasks, broken),
    deadlock: lastReportedEnd(
      config,
      findDeadlock(tasks, (owner) => mayWork(owner, members, alive)),
    ),
    approvals: listApprovals(
      ctx.ref,
      records.map((known) => ({ ...known, presentInstances: present })),
    ),
    budget: limits === undefined ? null : { ...limits, spent: spentByTeam(ctx.ref, config) },
  };
}

async function worktreeLooks(ctx: OperationContext): Promise<ReadonlyMap<string, WorktreeLook>> {
  const { lookAtWorktrees } = await import("./worktrees/worktree-status.ts");
  return lookAtWorktrees(ctx);
}

/** With what the team knows of the owner who will not come. */
function lastReportedEnd(
  { members, former = [] }: TeamConfig,
  deadlock: Deadlock | undefined,
): Deadlock | null {
  if (deadlock?.kind !== "dead-owner") return deadlock ?? null;
  const isKnown = [...members, ...former].some(({ name }) => name === deadlock.owner);
  return isKnown ? deadlock : { ...deadlock, isStranger: true };
}

/** A lead by hand may come to anything; of a member it must be known that it has ended. */
function mayWork(owner: string, members: readonly MemberStatus[], lead: boolean | null): boolean {
  if (owner === LEAD_NAME) return lead !== false;
  return members.some(({ name, alive }) => name === owner && alive !== false);
}

/** Whose tasks are in progress, by name. */
function begunTasks(tasks: readonly Task[]): ReadonlyMap<string, readonly string[]> {
  const begun = new Map<string, string[]>();
  for (const task of tasks) {
    const owner = ownerName(task);
    if (owner === undefined || task.status !== "in_progress") continue;
    begun.set(owner, [...(begun.get(owner) ?? []), task.id]);
  }
  return begun;
}

/** Counts by state; the list keeps the order of ids. */
export function summarize(tasks: readonly Task[], broken: readonly string[] = []): TaskSummary {
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
    ...(broken.length === 0 ? {} : { broken }),
  };
}

function leadAlive(config: TeamConfig): boolean | null {
  if (config.leadProcess === undefined) return null;
  const liveness = livenessOf(config.leadProcess);
  return liveness === "unknown" ? null : liveness === "alive";
}

function accountOf(
  member: TeamMember,
  status: StatusRecord | undefined,
): Pick<MemberStatus, "tokens" | "costUsd" | "budget"> {
  const { tokens = NO_TOKENS, costUsd = 0 } = status ?? {};
  return { tokens, costUsd, budget: limitsOf(member) ?? null };
}

function memberStatus(
  ref: TeamRef,
  { member, status, place, exit }: MemberRecords,
  begun: ReadonlyMap<string, readonly string[]>,
  present: ReadonlySet<string>,
): MemberStatus {
  const { name } = member;
  const verdict = judgeLiveness(member, { status, place, exit, presentInstances: present });
  const hasPlace = place !== undefined && present.has(place.instance);
  const mail = mailCounts(ref, name, status);
  return {
    name,
    agentId: member.agentId,
    agentType: member.agentType ?? null,
    model: member.model ?? null,
    mode: currentMode(member) ?? null,
    color: name === LEAD_NAME ? null : (member.color ?? null),
    backend: member.backendType ?? null,
    state: verdict.state,
    activity: verdict.alive === false ? "" : (status?.activity ?? ""),
    paneId: hasPlace ? (place.paneId ?? null) : (status?.paneId ?? null),
    pid: verdict.alive === false ? null : (status?.process.pid ?? null),
    alive: verdict.alive,
    cwd: member.cwd,
    worktree: member.worktreePath ?? null,
    taskIds: begun.get(name) ?? [],
    unread: mail.queued,
    mail,
    ...accountOf(member, status),
    startedAt: status?.startedAt ?? null,
    lastActivityAt: status?.lastActivityAt ?? null,
    exit: verdict.exit,
  };
}
