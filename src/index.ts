/**
 * The library: teams of agents for programs (docs/library.md). It works on files and processes as the command line does; there is no
 * server to connect to. It writes nothing to the terminal, handles no signals, and never ends the process.
 */

import { leaveSignals } from "./os/process/run.ts";

export { type ErrorCode, TeamError } from "./errors.ts";
export type {
  ApproveOptions,
  CallerOptions,
  Cancellable,
  CreateTeamOptions,
  DeleteOptions,
  EventsOptions,
  InboxOptions,
  KillOptions,
  NewTask,
  OpenTeamOptions,
  ResumeOptions,
  SendOptions,
  ShutdownOptions,
  SpawnOptions,
  TaskChange,
  TimeLimited,
  ToolLimits,
} from "./library/options.ts";
export type { Approvals, Tasks, TeammateWaitOptions, WaitOptions } from "./library/parts.ts";
export type {
  Archive,
  FileChange,
  InterruptReport,
  KillReport,
  ModeChange,
  ResumedMember,
  ResumeReport,
  RunOptions,
  RunResult,
  ShutdownReport,
  TeamSummary,
  WorktreeEnd,
} from "./library/reports.ts";
export { runTeam } from "./library/run-team.ts";
export type { Team } from "./library/team.ts";
export type { Teammate } from "./library/teammate.ts";
export { createTeam, listTeams, openTeam } from "./library/teams.ts";
export type {
  AgentState,
  Approval,
  ApprovalDetails,
  Broadcast,
  Budget,
  BudgetLimits,
  Delivery,
  ListedTask,
  MemberStatus,
  Message,
  Metadata,
  PermissionMode,
  SandboxMode,
  SpentAmount,
  Task,
  TaskStatus,
  TeamEvent,
  TeammateMode,
  TeamStatus,
  Tokens,
  VerifyRun,
} from "./library/values.ts";

leaveSignals();
