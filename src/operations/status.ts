import { LivenessCache } from "../os/process/liveness-cache.ts";
import type { BudgetLimits, SpentAmount } from "../schema/budget.ts";
import type { TeamConfig, TeamMember } from "../schema/config.ts";
import { visibleMetadata } from "../schema/guards/visible-metadata.ts";
import type { InboxMessage } from "../schema/inbox.ts";
import { readMetadata } from "../schema/member-metadata.ts";
import { LEAD_NAME } from "../schema/names.ts";
import type { SandboxMode } from "../schema/permission-modes.ts";
import type { AgentState, StateSource, StatusRecord } from "../schema/status.ts";
import type { Task } from "../schema/task.ts";
import type { TokenCount } from "../schema/tokens.ts";
import { NO_TOKENS } from "../schema/tokens.ts";
import { readTeam } from "../team/config/config.ts";
import { peekInbox } from "../team/inbox/inbox-file.ts";
import { type MailCounts, mailCounts } from "../team/mailbox/mail-counts.ts";
import { hasUnreadShutdownRequest } from "../team/mailbox/shutdown-requests.ts";
import { limitsOf, spentByTeam } from "../team/members/budget.ts";
import type { AgentExit } from "../team/members/judge-liveness.ts";
import { judgeShown } from "../team/members/judge-shown.ts";
import { type MemberRecords, memberRecords } from "../team/members/member-records.ts";
import { currentMode } from "../team/members/permission-mode.ts";
import { judgeProcess, type TeamRef } from "../team/ref.ts";
import { type Deadlock, findDeadlock } from "../team/tasks/deadlock.ts";
import { withKnownProofs } from "../team/tasks/known-proofs.ts";
import { withExpiredUnassigned } from "../team/tasks/lease.ts";
import type { ListedTask } from "../team/tasks/task-proof.ts";
import { listTasks, ownerName } from "../team/tasks/tasks.ts";
import { type Approval, listApprovals } from "./approvals/approvals.ts";
import type { OperationContext } from "./context.ts";
import { lostSocketErrors } from "./processes/lost-sockets.ts";
import { withPresence } from "./processes/present-instances.ts";
import { withUnreportedTurn } from "./processes/unreported-turn.ts";
import { problemsOf } from "./status-problems.ts";
import type { WorktreeStatus } from "./worktrees/worktree-status.ts";

/** The state of a team. `teams status --json` prints it with ISO times (product.md). */
export interface TeamStatus {
  readonly team: string;
  /** The name that the team was given; the same as `team` if it has no other. */
  readonly displayName: string;
  /** null if the team has no lead process: a person or a script leads. */
  readonly leadAlive: boolean | null;
  readonly members: readonly MemberStatus[];
  /** Facts that users and other programs keep with the team. */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly tasks: TaskSummary;
  /** Why no member can continue; null while a member can. */
  readonly deadlock: Deadlock | null;
  readonly approvals: readonly Approval[];
  /** The team's limits and what it has spent; null without a limit. */
  readonly budget: (BudgetLimits & { readonly spent: SpentAmount }) | null;
  /** Failures that will be retried, as sentences; omitted if there are none. */
  readonly problems?: readonly string[];
}

export interface MemberStatus {
  readonly name: string;
  readonly agentId: string;
  readonly agentType: string | null;
  readonly model: string | null;
  /** The permission mode; null if none was set. */
  readonly mode: string | null;
  /** The sandbox mode of its start; null if the settings decide. */
  readonly sandbox: SandboxMode | null;
  readonly color: string | null;
  readonly backend: string | null;
  readonly state: AgentState;
  readonly activity: string;
  /** When its account's limit ends, in milliseconds since the epoch; omitted if it waits for none, or the end is unknown. */
  readonly pausedUntil?: number;
  readonly paneId: string | null;
  /** The agent's own process, not the launch script. */
  readonly pid: number | null;
  /** null if this machine cannot judge it. */
  readonly alive: boolean | null;
  readonly cwd: string;
  readonly worktree: string | null;
  readonly taskIds: readonly string[];
  readonly unread: number;
  readonly mail: MailCounts;
  readonly tokens: TokenCount;
  readonly costUsd: number;
  /** The member's own limits; null without one. */
  readonly budget: BudgetLimits | null;
  readonly startedAt: number | null;
  readonly lastActivityAt: number | null;
  /** Facts that users and other programs keep with the member. */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly exit: AgentExit | null;
  /** Present only for a foreign member, and for a CLI that reads its inbox itself: the source of its state; null if it is unknown. */
  readonly stateFrom?: StateSource | null;
  /** Present only if git was asked; null for a member without a worktree. */
  readonly git?: WorktreeStatus | null;
}

export interface TaskSummary {
  readonly pending: number;
  readonly inProgress: number;
  readonly completed: number;
  /** How many pending tasks have a blocker that is not completed. */
  readonly blocked: number;
  readonly list: readonly ListedTask[];
  /** Ids of tasks whose files cannot be read and that are missing in `list`; omitted if all can be read. */
  readonly broken?: readonly string[];
}

/**
 * Collects the state of a team from its files, its processes and at most one query for each kind of place.
 * @param options.git also runs git in each worktree
 */
export async function teamStatus(
  outer: OperationContext,
  { git = false }: { readonly git?: boolean } = {},
): Promise<TeamStatus> {
  // Several parts of a status judge the same processes.
  const ctx = { ...outer, ref: { livenessCache: new LivenessCache(), ...outer.ref } };
  const config = readTeam(ctx.ref);
  // Before the records: a message that an agent reads meanwhile still counts as unread, so an agent in a turn is never at rest.
  const inboxes = new Map(config.members.map(({ name }) => [name, peekInbox(ctx.ref, name)]));
  const ofMembers = memberRecords(ctx.ref, config);
  // Before the states are judged: a request is one of their sources.
  const hasForeign = ofMembers.some(
    ({ member, status: own }) => (own === undefined || own.ownInbox === true) && member.name !== LEAD_NAME,
  );
  if (hasForeign) {
    const { openForeignRequests } = await import("./approvals/foreign-requests.ts");
    await openForeignRequests(ctx.ref, ctx.env);
  }
  const records = await withPresence(ctx, ofMembers);
  const worktrees = git ? await readWorktrees(ctx) : undefined;
  const judged = records.map((known) => ({
    known,
    verdict: withUnreportedTurn(ctx.ref, known, judgeShown(ctx.ref, known.member, known)),
  }));
  const alive = isLeadAlive(ctx.ref, config);
  const broken: string[] = [];
  // After the states: the tasks that a member created or completed before it became idle or ended are in the list.
  const tasks = withExpiredUnassigned(listTasks(ctx.ref, (_, id) => broken.push(id)));
  const inProgress = startedTasks(tasks);
  const members = judged.map(({ known, verdict }) => ({
    ...memberStatus(ctx.ref, known, verdict, inboxes.get(known.member.name) ?? [], inProgress),
    ...(worktrees && { git: worktrees.get(known.member.name) ?? null }),
  }));
  const limits = limitsOf(config);
  const sockets = (await lostSocketErrors(records)).map(({ message, hint }) => `${message} ${hint}`);
  return {
    team: config.name,
    displayName: config.displayName ?? config.name,
    leadAlive: alive,
    members,
    metadata: visibleMetadata(config.metadata),
    tasks: summarize(await withKnownProofs(ctx.ref, tasks), broken),
    deadlock: withStrangerFlag(
      config,
      findDeadlock(tasks, (owner) => mayWork(owner, members, alive)),
    ),
    approvals: listApprovals(ctx.ref, records),
    budget: limits === undefined ? null : { ...limits, spent: spentByTeam(ctx.ref, config) },
    ...withProblems([...problemsOf(ctx.ref, config), ...sockets]),
  };
}

/** Returns the problems as a field of a status; empty without any. */
export function withProblems(problems: readonly string[]): Pick<TeamStatus, "problems"> {
  return problems.length === 0 ? {} : { problems };
}

async function readWorktrees(ctx: OperationContext): Promise<ReadonlyMap<string, WorktreeStatus>> {
  const { readWorktreeStatuses } = await import("./worktrees/worktree-status.ts");
  return readWorktreeStatuses(ctx);
}

/** Marks the dead owner of a deadlock as a stranger if the team has never had a member of that name. */
function withStrangerFlag(
  { members, former = [] }: TeamConfig,
  deadlock: Deadlock | undefined,
): Deadlock | null {
  if (deadlock?.kind !== "dead-owner") return deadlock ?? null;
  const isKnown = [...members, ...former].some(({ name }) => name === deadlock.owner);
  return isKnown ? deadlock : { ...deadlock, isStranger: true };
}

/** Whether an owner may still continue its tasks. A manual lead always may; a teammate may unless it is known to have ended. */
function mayWork(owner: string, members: readonly MemberStatus[], lead: boolean | null): boolean {
  if (owner === LEAD_NAME) return lead !== false;
  return members.some(({ name, alive }) => name === owner && alive !== false);
}

/** Returns the tasks in progress, by their owners' names. */
function startedTasks(tasks: readonly Task[]): ReadonlyMap<string, readonly Task[]> {
  const byOwner = new Map<string, Task[]>();
  for (const task of tasks) {
    const owner = ownerName(task);
    if (owner === undefined || task.status !== "in_progress") continue;
    byOwner.set(owner, [...(byOwner.get(owner) ?? []), task]);
  }
  return byOwner;
}

/** Counts the tasks by state. The list keeps its order. */
export function summarize(tasks: readonly ListedTask[], broken: readonly string[] = []): TaskSummary {
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

function isLeadAlive(ref: TeamRef, config: TeamConfig): boolean | null {
  if (config.leadProcess === undefined) return null;
  const liveness = judgeProcess(ref, config.leadProcess);
  return liveness === "unknown" ? null : liveness === "alive";
}

function usageOf(
  member: TeamMember,
  status: StatusRecord | undefined,
): Pick<MemberStatus, "tokens" | "costUsd" | "budget"> {
  const { tokens = NO_TOKENS, costUsd = 0 } = status ?? {};
  return { tokens, costUsd, budget: limitsOf(member) ?? null };
}

function memberStatus(
  ref: TeamRef,
  known: MemberRecords,
  verdict: ReturnType<typeof judgeShown>,
  inbox: readonly InboxMessage[],
  inProgress: ReadonlyMap<string, readonly Task[]>,
): MemberStatus {
  const { member, status } = known;
  const { name } = member;
  const mail = mailCounts(ref, name, status, inbox);
  const tasks = inProgress.get(name) ?? [];
  const state = shownState(known, verdict, inbox);
  const pausedUntil = (status ?? known.foreign)?.pausedUntil;
  const step = verdict.activity ?? status?.activity ?? "";
  return {
    name,
    agentId: member.agentId,
    agentType: member.agentType ?? null,
    model: member.model ?? null,
    mode: currentMode(member) ?? null,
    sandbox: readMetadata(member, "sandbox") ?? null,
    color: name === LEAD_NAME ? null : (member.color ?? null),
    backend: member.backendType ?? null,
    state,
    activity: verdict.alive === false ? "" : shownActivity(verdict.state, step, tasks),
    ...(state === "paused" && pausedUntil !== undefined && { pausedUntil }),
    paneId: paneIdOf(known) ?? readMetadata(member, "adopted")?.pane.paneId ?? null,
    pid: verdict.alive === false ? null : (verdict.pid ?? null),
    alive: verdict.alive,
    cwd: member.cwd,
    worktree: member.worktreePath ?? null,
    taskIds: tasks.map(({ id }) => id),
    unread: mail.queued,
    mail,
    ...usageOf(member, status),
    startedAt: status?.startedAt ?? null,
    lastActivityAt: status?.lastActivityAt ?? known.foreign?.lastSignAt ?? null,
    metadata: visibleMetadata(member.metadata),
    exit: verdict.exit,
    ...(verdict.stateFrom !== undefined && {
      stateFrom: state === verdict.state ? verdict.stateFrom : "inbox",
    }),
  };
}

/** Returns the pane of a member; null if it has none, or none is proven. */
function paneIdOf({ status, place, foreign, presentInstances: present }: MemberRecords): string | null {
  const hasPlace = place !== undefined && present?.has(place.instance) === true;
  return (hasPlace ? place.paneId : (status?.paneId ?? foreign?.paneId)) ?? null;
}

/** A member is stopping from the shutdown request until it ends or refuses. Nothing is known of a request that a foreign member has read. */
function shownState(
  { member, status }: MemberRecords,
  { state, alive }: Pick<MemberStatus, "state" | "alive">,
  inbox: readonly InboxMessage[],
): AgentState {
  const isStarting = state === "starting" && alive === null;
  if (alive === false || isStarting || member.name === LEAD_NAME) return state;
  const isAsked = status?.shutdownRequested === true || hasUnreadShutdownRequest(inbox, member.name);
  return isAsked ? "stopping" : state;
}

/** The states in which a member works on its task, or may do so unseen. */
const AT_WORK: ReadonlySet<AgentState> = new Set(["running", "unknown"]);

/** Returns a member's activity: the `activeForm` of its newest task in progress, then the step that it reports. */
function shownActivity(state: AgentState, step: string, tasks: readonly Task[]): string {
  const work = AT_WORK.has(state) ? tasks.findLast(({ activeForm }) => activeForm)?.activeForm : undefined;
  return [work ?? "", step].filter((part) => part !== "").join(": ");
}
