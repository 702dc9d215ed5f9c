import type {
  BudgetLimits,
  Metadata,
  PermissionMode,
  SandboxMode,
  TaskStatus,
  TeammateMode,
} from "./values.ts";

/** Values that a call takes from the calling process unless they are set here. */
export interface CallerOptions {
  /** The directory whose settings, agent types and trust apply, and to which paths are relative; by default the current one. */
  readonly cwd?: string | undefined;
  /** The environment of the teammates; its `TEAMS_HOME` sets the root directory of the teams. By default that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The path of this package's `dist/teams.cjs`. Needed only if a bundler has moved the library to another place. */
  readonly program?: string | undefined;
  /** Receives notes that the command line would print on stderr: ignored settings, repaired files. */
  readonly onNote?: ((text: string) => void) | undefined;
}

/** A call that can be cancelled. */
export interface Cancellable {
  /** Cancels the call, which then rejects with the TeamError `INTERRUPTED`; its `cause` is the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/** A wait with an optional time limit. */
export interface TimeLimited extends Cancellable {
  /** Milliseconds; no limit by default. A longer wait rejects with the TeamError `TIMEOUT`, unless the function says otherwise. */
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
  /** Records the screen of each pane in this directory, or with `true` in the team's own directory of recordings. */
  readonly recording?: string | true | undefined;
}

export interface OpenTeamOptions extends CallerOptions {
  /** The member to act as; by default the agent in whose shell this process runs, or else the lead. */
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
  /** The names of the only tools that it has, in addition to the team tools. */
  readonly tools?: readonly string[] | undefined;
}

export interface SpawnOptions extends ToolLimits, Cancellable {
  /** Its first message. */
  readonly prompt?: string | undefined;
  /** `general-purpose`, `Explore`, `Plan`, `reviewer`, …, or a type from `agents/*.md`. */
  readonly agentType?: string | undefined;
  /** `haiku`, `sonnet`, `opus`, `inherit`, `scripted[:file]` or any model id. */
  readonly model?: string | undefined;
  /** The lead must approve its plan before it acts. */
  readonly plan?: boolean | undefined;
  readonly permissionMode?: PermissionMode | undefined;
  /** Replaces its system prompt. */
  readonly systemPrompt?: string | undefined;
  /** Text to add at the end of its system prompt. */
  readonly appendSystemPrompt?: string | undefined;
  /** A third-party CLI to run instead of the built-in agent: `claude`, `codex`, `codex-acp`, … */
  readonly cli?: string | undefined;
  /** With `cli`: the reasoning effort of its model. */
  readonly effort?: string | undefined;
  readonly sandbox?: SandboxMode | undefined;
  /** Its working directory, relative to the `cwd` of the caller. */
  readonly cwd?: string | undefined;
  /** Works in its own git worktree: on `teams/<team>/<name>` with `true`, or on this branch. `withChanges` copies uncommitted changes. */
  readonly worktree?:
    | boolean
    | { readonly branch?: string | undefined; readonly withChanges?: boolean | undefined }
    | undefined;
  /** Where it runs; by default the settings decide. `in-process` is only for `runTeam`. */
  readonly teammateMode?: TeammateMode | undefined;
  /** Where its tmux pane opens: in this window, its own window, the team's own session, or the team's window (the default). */
  readonly placement?: "here" | "window" | "session" | "team-window" | undefined;
  readonly budget?: BudgetLimits | undefined;
  readonly metadata?: Metadata | undefined;
  /** Records its decisions and reasons, for `teams logs <name> --debug`. */
  readonly debug?: boolean | undefined;
  /** Records its screen in this directory, or with `true` in the team's own directory of recordings. */
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
  /** Only messages sent at this time or later; a number is in milliseconds since the epoch. */
  readonly since?: Date | number | undefined;
  /** Includes messages that are no longer in the inbox. */
  readonly all?: boolean | undefined;
  /** Marks the returned messages as read. Only for the inbox of a lead without a process: an agent reads its inbox itself. */
  readonly markRead?: boolean | undefined;
}

/** Which events to return. */
export interface EventsOptions {
  /** Includes past events, from this time on; a number is in milliseconds since the epoch. By default only new events. */
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
  /** Glob patterns of the files that it changes: tasks whose patterns overlap never run at the same time. */
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
  /** A command that must exit with 0 before the task is completed. */
  readonly verify?: string | undefined;
  /** The member that reviews the completed task. */
  readonly reviewer?: string | undefined;
  /** Glob patterns of the files that it changes. */
  readonly touches?: readonly string[] | undefined;
}

/** How to answer a request. The signal cancels the restart of a crashed teammate; every other answer is immediate. */
export interface ApproveOptions extends Cancellable {
  /** Feedback on a plan, or the answer to a question. */
  readonly note?: string | undefined;
  /** The permission mode for carrying out an approved plan. */
  readonly mode?: Exclude<PermissionMode, "plan" | "delegate"> | undefined;
  /** Allows such calls without asking: by the suggested rules with `true`, or by these rules. The asking agent keeps them until it ends. */
  readonly always?: boolean | readonly string[] | undefined;
  /** Saves the rules of `always` in these settings, for all agents. Needs `always`. */
  readonly save?: "user" | "project" | "local" | undefined;
}

export interface ShutdownOptions extends TimeLimited {
  /** Milliseconds, 30 000 by default. A teammate that takes longer keeps running; its outcome is `timed-out`. */
  readonly timeoutMs?: number | undefined;
  /** The reason, which the teammate receives. */
  readonly reason?: string | undefined;
}

export interface KillOptions extends TimeLimited {
  /** Milliseconds before signals are sent, 5000 by default. */
  readonly timeoutMs?: number | undefined;
  /** Sends signals at once, without asking. */
  readonly force?: boolean | undefined;
  /** Removes the worktree with all its files; the branch stays. */
  readonly discardWorktree?: boolean | undefined;
}

export interface ResumeOptions extends Cancellable {
  /** Where restarted teammates run; by default where they ran before. */
  readonly teammateMode?: TeammateMode | undefined;
  /** Takes over the lead even if its process may run elsewhere. */
  readonly force?: boolean | undefined;
}

export interface DeleteOptions extends Cancellable {
  /** Ends running members first, instead of failing. */
  readonly force?: boolean | undefined;
  /** Cancels the deletion, unless panes or files are already removed. Members that `force` has ended stay ended. */
  readonly signal?: AbortSignal | undefined;
}
