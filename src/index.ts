/**
 * The public API: the operations behind the command line, and their types. They work on files and processes directly; there
 * is no server to connect to.
 *
 *   const env = processEnv();
 *   const home = teamsHome(env);
 *   const { ref } = await createTeam(home, systemClock, { name: "review", cwd: process.cwd() });
 *   await addTask(ref, "team-lead", { subject: "Find every TODO" });
 */

export type { Backend, Placement, SpawnOutcome, SpawnRequest } from "./backend/backend.ts";
export { type ErrorCode, EXIT, TeamError } from "./errors.ts";
export {
  type Approval,
  type ApprovalAnswer,
  answerApproval,
  listApprovals,
} from "./operations/approvals/approvals.ts";
export type { Backends, OperationContext } from "./operations/context.ts";
export { type CreateTeamInput, createTeam } from "./operations/create-team.ts";
export { type DeleteOptions, deleteTeam } from "./operations/ending/delete-team.ts";
export {
  type KillOptions,
  type KillReport,
  killAllTeammates,
  killTeammates,
} from "./operations/ending/kill.ts";
export {
  type ShutdownOptions,
  type ShutdownReport,
  shutdownTeammates,
} from "./operations/ending/shutdown.ts";
export type { SpawnInput } from "./operations/spawn/draft-member.ts";
export { type SpawnedTeammate, type SpawnOptions, spawnTeammates } from "./operations/spawn/spawn.ts";
export { type MemberStatus, type TaskSummary, type TeamStatus, teamStatus } from "./operations/status.ts";
export { type NoticedEnd, reconcile } from "./operations/supervision/reconcile.ts";
export { type Clock, systemClock } from "./os/clock.ts";
export { type Env, processEnv } from "./os/env.ts";
export { type ProtocolMessage, parseProtocol, plainText } from "./protocol/messages.ts";
export { openBackends } from "./runtime/backends.ts";
export type { TeamConfig, TeamMember } from "./schema/config.ts";
export type { InboxMessage } from "./schema/inbox.ts";
export type { PermissionMode } from "./schema/permission-modes.ts";
export { type Playbook, type PlaybookTurn, parsePlaybook } from "./schema/playbook.ts";
export type { AgentState } from "./schema/status.ts";
export type { Task, TaskStatus } from "./schema/task.ts";
export type { TokenCount } from "./schema/tokens.ts";
export { listTeams, readTeam, type TeamEntry } from "./team/config/config.ts";
export { history, type MessageView } from "./team/mailbox/history.ts";
export { type InboxEntry, markAsRead, unreadCount, unreadMessages } from "./team/mailbox/receive.ts";
export {
  broadcast,
  type Delivery,
  type OutgoingMessage,
  sendMessage,
} from "./team/mailbox/send.ts";
export { type Home, type TeamRef, teamRef, teamsHome } from "./team/ref.ts";
export { claimTask } from "./team/tasks/claim-task.ts";
export { getTask, listTasks, type NewTask } from "./team/tasks/tasks.ts";
export { addTask, updateTask } from "./team/tasks/update-task.ts";
export type { Bell, RingResult, WaitOptions } from "./wakeup/bell.ts";
export { openTreeBell } from "./wakeup/tree-bell.ts";
