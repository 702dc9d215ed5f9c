import type { Approval } from "../operations/approvals/approvals.ts";
import type { MemberStatus, TeamStatus } from "../operations/status.ts";
import type { Task } from "../schema/task.ts";
import type { AgentExit } from "../team/members/judge-liveness.ts";
import type { ListedTask } from "../team/tasks/task-proof.ts";

/** The part of {@link TeamStatus} that the sidebar shows. */
export interface SidebarTeam
  extends Pick<TeamStatus, "team">,
    Partial<Pick<TeamStatus, "displayName" | "leadAlive" | "deadlock">> {
  readonly members: readonly SidebarMember[];
  readonly tasks: { readonly list: readonly SidebarTask[] };
  readonly approvals: readonly SidebarApproval[];
}

/** The part of {@link MemberStatus} that the sidebar shows. */
export interface SidebarMember
  extends Pick<MemberStatus, "name" | "state" | "activity" | "taskIds" | "unread" | "tokens">,
    Partial<Pick<MemberStatus, "color" | "cwd">> {
  readonly exit: Pick<AgentExit, "code" | "signal" | "lastLines"> | null;
}

export type SidebarTask = Pick<Task, "id" | "subject" | "status" | "blockedBy"> &
  Pick<Partial<Task>, "owner"> &
  Pick<ListedTask, "said" | "shown">;

export type SidebarApproval = Pick<
  Approval,
  "id" | "kind" | "from" | "summary" | "change" | "partial" | "default"
>;

/** A message of the team's journal. */
export interface MessageLine {
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly summary?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The data of one drawing. */
export interface SidebarData {
  readonly status: SidebarTeam;
  /** Oldest first; the sidebar shows the last ones. */
  readonly messages: readonly MessageLine[];
  /** When the data was read, in milliseconds since the epoch: messages of another day show their date. If omitted, none does. */
  readonly now?: number;
}
