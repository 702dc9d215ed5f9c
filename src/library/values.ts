import type { EventFacts, EventSubject } from "../schema/event.ts";

/** How much an agent may do without asking. */
export type PermissionMode =
  | "default"
  | "acceptEdits"
  | "plan"
  | "bypassPermissions"
  | "dontAsk"
  | "delegate";

/** Whether an agent's commands run in the sandbox, from the weakest to the strictest. */
export type SandboxMode = "off" | "auto" | "required";

/** Where teammates run; `auto` selects tmux if it is installed. */
export type TeammateMode = "auto" | "tmux" | "in-process" | "iterm2" | "process";

/** The current state of an agent. `failed`: the last turn of another program's member failed. */
export type AgentState =
  | "starting"
  | "running"
  | "idle"
  | "awaiting-approval"
  | "needs-input"
  | "throttled"
  | "paused"
  | "stopping"
  | "failed"
  | "exited"
  | "crashed"
  | "unknown";

/** Data that a program stores with a team, a member or a task. Keys that begin with `_` are reserved. */
export type Metadata = Readonly<Record<string, unknown>>;

/** Tokens that a model has read and written. */
export interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** Maximum amounts; without a limit, the amount is unlimited. */
export interface BudgetLimits {
  /** Tokens of all kinds together. */
  readonly maxTokens?: number | undefined;
  /** US dollars; only for models with a known price. */
  readonly maxCostUsd?: number | undefined;
}

/** The amounts used so far. */
export interface SpentAmount {
  /** Tokens of all kinds together. */
  readonly tokens: number;
  /** US dollars; models without a known price count as 0. */
  readonly costUsd: number;
}

/** The budget of a member or of a whole team. */
export interface Budget {
  /** The member's name; null for the budget of the team. */
  readonly name: string | null;
  readonly limits: BudgetLimits;
  readonly spent: SpentAmount;
  /** Members whose program does not report its tokens, although a limit of the team counts them. */
  readonly uncounted: readonly string[];
}

/** A message to a member. */
export interface Message {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** The text that the recipient reads: the sender's text, or a sentence that renders a protocol message. */
  readonly text: string;
  /** The subject. */
  readonly summary?: string | undefined;
  /** ISO time. */
  readonly timestamp: string;
  readonly read: boolean;
  /** How far the recipient has processed it. */
  readonly state: "queued" | "delivered" | "turn_started" | "done" | "bounced";
  /** The type of a protocol message, such as `idle_notification`; null for a text. */
  readonly protocol: string | null;
}

/** How a message was delivered. */
export interface Delivery {
  readonly messageId: string;
  /** The recipient's name as the team spells it. */
  readonly to: string;
  /** The recipient is not running: the message waits for its restart. */
  readonly queuedForRestart: boolean;
}

/** Who received a broadcast. */
export interface Broadcast {
  readonly recipients: readonly string[];
  /** Members that are not running. */
  readonly skipped: readonly string[];
}

export type TaskStatus = "pending" | "in_progress" | "completed";

/** One run of a task's verify command. */
export interface VerifyRun {
  readonly outcome: "passed" | "failed" | "timed-out" | "refused" | "not-started";
  readonly exitCode?: number | undefined;
  readonly signal?: string | undefined;
  /** The commit that was checked out when the run started. */
  readonly commit?: string | undefined;
  /** The number of changed and untracked files at that time. */
  readonly uncommitted?: number | undefined;
  /** The last lines of its output. */
  readonly tail: string;
  readonly directory: string;
  /** When it started, in milliseconds since the epoch. */
  readonly at: number;
  /** How long it ran, in milliseconds. */
  readonly ms: number;
  /** The member that reported the task as completed. */
  readonly by: string;
}

/** A task of the team. */
export interface Task {
  /** A number as a string: `"3"`. */
  readonly id: string;
  readonly subject: string;
  readonly description: string;
  readonly status: TaskStatus;
  /** The member's name; missing or empty if the task is unassigned. */
  readonly owner?: string | undefined;
  /** The text that lists show while a member works on it. */
  readonly activeForm?: string | undefined;
  /** Ids of tasks that wait for this one. */
  readonly blocks: readonly string[];
  /** Ids of tasks that must be completed first. */
  readonly blockedBy: readonly string[];
  readonly metadata: Metadata;
  /** The command that must exit with 0 before the task is completed. */
  readonly verify: string | null;
  /** A verify command that no person has confirmed; it never runs. */
  readonly proposedVerify?: string | undefined;
  /** The member that reviews the completed task. */
  readonly reviewer: string | null;
  /** Patterns of the files that it changes. */
  readonly touches: readonly string[];
  /** A member reported it as completed. */
  readonly said: boolean;
  /** The result of the verify command, as `teams` ran it. */
  readonly shown: "passed" | "failed" | "running" | "not run" | "unconfirmed" | "none";
  readonly verifyRun: VerifyRun | null;
}

/** A task in the status of a team. */
export interface ListedTask extends Pick<Task, "id" | "subject" | "description" | "status" | "owner"> {
  readonly blocks: readonly string[];
  readonly blockedBy: readonly string[];
  /** A member reported it as completed. */
  readonly said?: boolean;
  /** The result of the verify command, as in `Task`. */
  readonly shown?: Task["shown"];
}

/** A request that waits for an answer. */
export interface Approval {
  readonly id: string;
  readonly kind: "plan" | "permission" | "question" | "crash";
  /** The member that asks. */
  readonly from: string;
  /** Its subject, in one line. */
  readonly summary: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The choices that a question offers. */
  readonly choices?: readonly string[];
  /** The answer to a question if the answerer only agrees. */
  readonly default?: string;
  /** When the default becomes the answer, in milliseconds since the epoch. */
  readonly deadline?: number;
  /** Why the permission is requested. */
  readonly reason?: string;
  /** The lines of the change that the call would make. */
  readonly change?: readonly string[];
  /** The rules that `always` would add. */
  readonly always?: readonly string[];
  /** The request is shortened; `approvals.get` returns all of it. */
  readonly partial?: true;
}

/** A request in full. */
export interface ApprovalDetails extends Approval {
  /** The tool that the agent wants to call. */
  readonly tool?: string;
  /** The input of the tool call. */
  readonly input?: unknown;
  readonly question?: string;
  readonly planFilePath?: string;
  readonly planContent?: string;
  /** The first answer, until the member that asked has received it. */
  readonly answer?: { readonly approve: boolean; readonly by: string; readonly note?: string };
}

/** A member of a team, and its activity. */
export interface MemberStatus {
  readonly name: string;
  readonly agentType: string | null;
  readonly model: string | null;
  /** The permission mode; null if none was set. */
  readonly mode: string | null;
  readonly sandbox: SandboxMode | null;
  readonly backend: string | null;
  readonly state: AgentState;
  readonly activity: string;
  /** When the usage limit of its account ends, in milliseconds since the epoch. */
  readonly pausedUntil?: number;
  readonly paneId: string | null;
  /** The agent's own process. */
  readonly pid: number | null;
  /** Whether its process is running; null if this machine cannot determine it. */
  readonly alive: boolean | null;
  readonly cwd: string;
  readonly worktree: string | null;
  /** Ids of its tasks in progress. */
  readonly taskIds: readonly string[];
  /** The number of unread messages. */
  readonly unread: number;
  readonly tokens: Tokens;
  /** US dollars; models without a known price count as 0. */
  readonly costUsd: number;
  /** Its own limits; null if it has none. */
  readonly budget: BudgetLimits | null;
  /** Milliseconds since the epoch. */
  readonly startedAt: number | null;
  /** Milliseconds since the epoch. */
  readonly lastActivityAt: number | null;
  readonly metadata: Metadata;
  /** How its process ended; null while it runs. `at` is in milliseconds since the epoch. */
  readonly exit: {
    readonly code: number | null;
    readonly signal: string | null;
    readonly at: number;
    readonly lastLines: readonly string[];
  } | null;
}

/** The state of a team, like `teams status --json`, but with times in milliseconds since the epoch. */
export interface TeamStatus {
  readonly team: string;
  readonly displayName: string;
  /** Whether the lead's process is running; null if there is none, because a person or a program leads. */
  readonly leadAlive: boolean | null;
  /** All members; the lead has the name `team-lead`. */
  readonly members: readonly MemberStatus[];
  readonly metadata: Metadata;
  readonly tasks: {
    readonly pending: number;
    readonly inProgress: number;
    readonly completed: number;
    /** Pending tasks that wait for others. */
    readonly blocked: number;
    readonly list: readonly ListedTask[];
    /** Ids of tasks whose files cannot be read. */
    readonly broken?: readonly string[];
  };
  /** Why no member can continue; null while a member can. */
  readonly deadlock: {
    readonly kind: "cycle" | "dead-owner";
    readonly tasks: readonly string[];
    readonly owner?: string;
  } | null;
  readonly approvals: readonly Approval[];
  readonly budget: (BudgetLimits & { readonly spent: SpentAmount }) | null;
  /** Failures that will be retried, one sentence for each. */
  readonly problems?: readonly string[];
}

/**
 * An event of a team: ids, names and sizes, never the text of a message, a model or a tool. `ts` is an ISO time, `agentId` is
 * `name@team`.
 */
export type TeamEvent = EventFacts & EventSubject & { readonly ts: string; readonly team: string };
