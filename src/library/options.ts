import type {
  BudgetLimits,
  Metadata,
  PermissionMode,
  SandboxMode,
  TaskStatus,
  TeammateMode,
} from "./values.ts";

/** The parts of the calling process that a call uses, unless these options replace them. */
export interface CallerOptions {
  /** The directory whose settings, agent types and trust apply, and which relative paths begin at; by default the current one. */
  readonly cwd?: string | undefined;
  /** The environment of the teammates, which also names the root of the teams; by default that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The path of this package's `dist/teams.cjs`. Needed only if a bundler has moved the library to another place. */
  readonly program?: string | undefined;
  /** Receives remarks that the command line would print on stderr: ignored settings, repaired files. */
  readonly onNote?: ((text: string) => void) | undefined;
}

/** A call that can be ended early. */
export interface Cancellable {
  /** Ends the call. It then rejects with the TeamError `INTERRUPTED`, whose `cause` is the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/** A wait that can be ended early. */
export interface TimeLimited extends Cancellable {
  /** Milliseconds. A longer wait rejects with the TeamError `TIMEOUT`, unless the function says otherwise. */
  readonly timeoutMs?: number | undefined;
}

export interface CreateTeamOptions extends CallerOptions {
  readonly description?: string | undefined;
  /** Uses `name-2`, `name-3`, … if the name is taken, instead of failing. */
  readonly unique?: boolean | undefined;
  /** The agent type of the lead. */
  readonly agentType?: string | undefined;
  readonly metadata?: Metadata | undefined;
  /** The limits for all members together. */
  readonly budget?: BudgetLimits | undefined;
  /** Records the screen of each pane into this directory, or with `true` into that of the team's recordings. */
  readonly recording?: string | true | undefined;
}

export interface OpenTeamOptions extends CallerOptions {
  /** Acts as this member; by default as the agent in whose shell this process runs, else as the lead. */
  readonly as?: string | undefined;
  /** Allows changing a team that another program has created. */
  readonly force?: boolean | undefined;
}

/** The tools of an agent, beyond the rules of the settings. */
export interface ToolLimits {
  /** Rules for calls that run without asking, such as `Read` or `Bash(git:*)`. */
  readonly allowedTools?: readonly string[] | undefined;
  /** Rules for calls that never run. */
  readonly disallowedTools?: readonly string[] | undefined;
  /** The names of its only tools; the team tools are not limited. */
  readonly tools?: readonly string[] | undefined;
}

export interface SpawnOptions extends ToolLimits, Cancellable {
  /** Its first message. */
  readonly prompt?: string | undefined;
  /** `general-purpose`, `Explore`, `Plan`, `reviewer`, …, or a type from `agents/*.md`. */
  readonly agentType?: string | undefined;
  /** `haiku`, `sonnet`, `opus`, `inherit`, `scripted[:file]` or any id. */
  readonly model?: string | undefined;
  /** It must get a plan approved before it acts. */
  readonly plan?: boolean | undefined;
  readonly permissionMode?: PermissionMode | undefined;
  /** Replaces its system prompt. */
  readonly systemPrompt?: string | undefined;
  /** Text to add at the end of its system prompt. */
  readonly appendSystemPrompt?: string | undefined;
  /** A third-party CLI to run instead of our agent: `claude`, `codex`, `codex-acp`, … */
  readonly cli?: string | undefined;
  /** With `cli`: how hard its model thinks. */
  readonly effort?: string | undefined;
  readonly sandbox?: SandboxMode | undefined;
  /** Where it works, relative to the directory of the caller. */
  readonly cwd?: string | undefined;
  /** Works in its own git worktree: on `teams/<team>/<name>` with `true`, or on this branch. `withChanges` copies uncommitted changes. */
  readonly worktree?:
    | boolean
    | { readonly branch?: string | undefined; readonly withChanges?: boolean | undefined }
    | undefined;
  /** Where it lives; by default the settings decide. `in-process` is only for `runTeam`. */
  readonly teammateMode?: TeammateMode | undefined;
  /** Where its tmux pane opens: in this window, its own window, the team's own session, or the team's window (the default). */
  readonly placement?: "here" | "window" | "session" | "team-window" | undefined;
  readonly budget?: BudgetLimits | undefined;
  readonly metadata?: Metadata | undefined;
  /** Records its decisions and reasons, for `teams logs <name> --debug`. */
  readonly debug?: boolean | undefined;
  /** Records its screen into this directory, or with `true` into that of the team's recordings. */
  readonly recording?: string | true | undefined;
  /** Uses `name-2`, … if the name is taken, instead of failing. */
  readonly unique?: boolean | undefined;
}

export interface SendOptions {
  /** The subject, in five to ten words. */
  readonly summary?: string | undefined;
}

/** Which messages to return. */
export interface InboxOptions {
  /** Only unread messages. */
  readonly unread?: boolean | undefined;
  /** Only messages from this member. */
  readonly from?: string | undefined;
  /** Only messages from this time on; a number is in milliseconds since the epoch. */
  readonly since?: Date | number | undefined;
  /** Also messages that have left the inbox. */
  readonly all?: boolean | undefined;
  /** Marks the returned messages as read. Only for the inbox of a lead without a process: an agent reads its inbox itself. */
  readonly markRead?: boolean | undefined;
}

/** Which events to return. */
export interface EventsOptions {
  /** Also the past events from this time on; a number is in milliseconds since the epoch. By default only new events. */
  readonly since?: Date | number | undefined;
  /** Ends the iteration without an error. */
  readonly signal?: AbortSignal | undefined;
}

/** A new task. */
export interface NewTask {
  readonly subject: string;
  readonly description?: string | undefined;
  /** Assigns it to this member, and notifies the member. */
  readonly owner?: string | undefined;
  /** Ids of tasks that must be completed first. */
  readonly blockedBy?: readonly string[] | undefined;
  /** The text that lists show while a member works on it: `Writing the report`. */
  readonly activeForm?: string | undefined;
  readonly metadata?: Metadata | undefined;
  /** A command that must exit with 0 before the task is completed. It runs in the directory of the owner. */
  readonly verify?: string | undefined;
  /** Asks this member to review the completed task. */
  readonly reviewer?: string | undefined;
  /** Patterns of the files that it changes: tasks that overlap never run at once. */
  readonly touches?: readonly string[] | undefined;
}

/** The changed fields of a task; an empty text or list removes a field. */
export interface TaskChange {
  readonly status?: TaskStatus | undefined;
  /** A member's name; empty unassigns the task. */
  readonly owner?: string | undefined;
  readonly subject?: string | undefined;
  readonly description?: string | undefined;
  readonly activeForm?: string | undefined;
  /** Ids of additional tasks that must be completed first. */
  readonly addBlockedBy?: readonly string[] | undefined;
  /** Ids of tasks that it no longer waits for. */
  readonly removeBlockedBy?: readonly string[] | undefined;
  /** Merged into the existing metadata; null removes a key. */
  readonly metadata?: Metadata | undefined;
  readonly verify?: string | undefined;
  readonly reviewer?: string | undefined;
  readonly touches?: readonly string[] | undefined;
}

/** How to answer a request. The signal ends the start of a crashed teammate; every other answer is immediate. */
export interface ApproveOptions extends Cancellable {
  /** Feedback on a plan, or the answer to a question. */
  readonly note?: string | undefined;
  /** The permission mode for carrying out an approved plan. */
  readonly mode?: Exclude<PermissionMode, "plan" | "delegate"> | undefined;
  /** Allows the same without asking: with `true` by the suggested rules, or by these. The asking agent has them until it ends. */
  readonly always?: boolean | readonly string[] | undefined;
  /** Saves the rules of `always` in these settings, for all agents. Needs `always`. */
  readonly save?: "user" | "project" | "local" | undefined;
}

export interface ShutdownOptions extends TimeLimited {
  /** Milliseconds, 30 000 by default. A teammate that takes longer keeps running; its outcome is `timed-out`. */
  readonly timeoutMs?: number | undefined;
  /** Why, as a message to the teammate. */
  readonly reason?: string | undefined;
}

export interface KillOptions extends TimeLimited {
  /** Milliseconds before signals are sent, 5000 by default. */
  readonly timeoutMs?: number | undefined;
  /** Sends signals at once, without asking. */
  readonly force?: boolean | undefined;
  /** Removes the worktree with everything in it; the branch stays. */
  readonly discardWorktree?: boolean | undefined;
}

export interface ResumeOptions extends Cancellable {
  /** Where restarted teammates live; by default where they lived before. */
  readonly teammateMode?: TeammateMode | undefined;
  /** Takes over the lead even if its process may run elsewhere. */
  readonly force?: boolean | undefined;
}

export interface DeleteOptions extends Cancellable {
  /** Ends running members first, instead of failing. */
  readonly force?: boolean | undefined;
  /** Cancels the deletion until it begins to remove panes and files. Running members that `force` has ended stay ended. */
  readonly signal?: AbortSignal | undefined;
}
