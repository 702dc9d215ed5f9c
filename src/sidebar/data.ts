import type { AgentState } from "../schema/status.ts";
import type { Task } from "../schema/task.ts";
import type { TokenCount } from "../schema/tokens.ts";
import type { Deadlock } from "../team/tasks/deadlock.ts";

/** What the sidebar needs of the object that `teams status --json` prints (product.md); more fields do no harm. */
export interface TeamStatus {
  readonly team: string;
  /** null where a person or a script leads. */
  readonly leadAlive?: boolean | null;
  readonly members: readonly MemberStatus[];
  readonly tasks: { readonly list: readonly TaskView[] };
  /** Why nobody can go on. */
  readonly deadlock?: Deadlock | null;
  readonly approvals: readonly ApprovalView[];
}

export interface MemberStatus {
  readonly name: string;
  readonly color?: string | null | undefined;
  readonly state: AgentState;
  readonly activity: string;
  readonly taskIds: readonly string[];
  readonly unread: number;
  readonly tokens: TokenCount;
  readonly exit: {
    readonly code: number | null;
    readonly signal: string | null;
    readonly lastLines: readonly string[];
  } | null;
}

export type TaskView = Pick<Task, "id" | "subject" | "status" | "blockedBy"> & Pick<Partial<Task>, "owner">;

/** Something that waits for a person or the lead; `id` is the request's. */
export interface ApprovalView {
  readonly id: string;
  readonly kind: "plan" | "permission" | "question" | "crash";
  readonly from: string;
  readonly summary: string;
  /** What the call would do that its summary leaves out, line by line. */
  readonly change?: readonly string[];
}

/** A message of the team's journal. */
export interface MessageLine {
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly summary?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Everything that one drawing shows. */
export interface SidebarData {
  readonly status: TeamStatus;
  /** Oldest first; the sidebar shows the last ones. */
  readonly messages: readonly MessageLine[];
}
