/**
 * The public API: the operations that the command line is made of, and their types. Everything here works on files and
 * processes directly; there is no server to connect to.
 *
 *   const env = processEnv();
 *   const home = homeOf(env);
 *   const { ref } = await createTeam(home, systemClock, { name: "review", cwd: process.cwd() });
 *   await addTask(ref, "team-lead", { subject: "Find every TODO" });
 */

export type { Backend, Placement, SpawnOutcome, SpawnRequest } from "./backend/backend.ts";
export { openBackends } from "./cli/backends.ts";
export { homeOf } from "./cli/home.ts";
export { type ErrorCode, EXIT, TeamError } from "./errors.ts";
export { type Approval, type ApprovalAnswer, answerApproval, listApprovals } from "./lead/approvals.ts";
export type { Backends, LeadContext } from "./lead/context.ts";
export { type CreateTeamInput, createTeam } from "./lead/create-team.ts";
export { type DeleteOptions, deleteTeam } from "./lead/delete-team.ts";
export { type KillOptions, type KillReport, killEverybody, killTeammates } from "./lead/kill.ts";
export { type NoticedEnd, reconcile } from "./lead/reconcile.ts";
export { type ShutdownOptions, type ShutdownReport, shutdownTeammates } from "./lead/shutdown.ts";
export { type SpawnedTeammate, type SpawnOptions, spawnTeammates } from "./lead/spawn.ts";
export type { SpawnInput } from "./lead/spawn-draft.ts";
export { type MemberStatus, type TaskSummary, type TeamStatus, teamStatus } from "./lead/status.ts";
export { type Clock, systemClock } from "./os/clock.ts";
export { type Env, processEnv } from "./os/env.ts";
export { type ProtocolMessage, parseProtocol, plainText } from "./protocol/messages.ts";
export type { TeamConfig, TeamMember } from "./schema/config.ts";
export type { InboxMessage } from "./schema/inbox.ts";
export type { PermissionMode } from "./schema/permission-modes.ts";
export { type Playbook, parsePlaybook, type Turn } from "./schema/playbook.ts";
export type { AgentState } from "./schema/status.ts";
export type { Task, TaskStatus } from "./schema/task.ts";
export type { TokenCount } from "./schema/tokens.ts";
export { listTeams, readTeam, type TeamEntry } from "./team/config.ts";
export { history, type MessageView } from "./team/history.ts";
export {
  acknowledge,
  broadcast,
  type Delivery,
  deliver,
  type InboxEntry,
  type Mail,
  pending,
  unreadCount,
} from "./team/mailbox.ts";
export { type Home, type TeamRef, teamRef } from "./team/ref.ts";
export { addTask, claimTask, updateTask } from "./team/task-flow.ts";
export { getTask, listTasks, type NewTask } from "./team/tasks.ts";
export type { Bell, RingResult, WaitOptions } from "./wakeup/bell.ts";
export { openTreeBell } from "./wakeup/watch-tree.ts";
