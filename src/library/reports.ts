import type { CallerOptions, Cancellable, ToolLimits } from "./options.ts";
import type { Approval, BudgetLimits, PermissionMode, Task, TeamEvent, TeammateMode } from "./values.ts";

/** Whether the worktree of a former member was removed or kept. */
export interface WorktreeEnd {
  readonly path: string;
  readonly branch: string;
  /** Why it was kept; null if it was removed. */
  readonly kept: string | null;
  /** How a person can remove it, if the usual command would fail or lose commits. */
  readonly advice?: string;
}

/** How a teammate answered a request to shut down. */
export interface ShutdownReport {
  readonly name: string;
  /** `gone`: it had already ended. After `rejected` and `timed-out`, it is still running. */
  readonly outcome: "approved" | "rejected" | "timed-out" | "gone";
  /** Why the teammate refused. */
  readonly reason?: string;
  /** It agreed, but its process is not known, so it is unknown whether it has ended. */
  readonly unproven?: true;
  /** Whether its worktree was removed, if it had one and has left the team. */
  readonly worktree?: WorktreeEnd;
}

/** How a teammate was ended. */
export interface KillReport {
  readonly name: string;
  /** `out-of-reach`: it was removed without a signal, because its process cannot be reached from here. */
  readonly outcome: "shut-down" | "killed" | "gone" | "out-of-reach";
  /** The pids of processes that could not be ended. */
  readonly left: readonly number[];
  /** With `shut-down`: its process is not known, so it is unknown whether it has ended. */
  readonly unproven?: true;
  /** Whether its worktree was removed, if it had one. */
  readonly worktree?: WorktreeEnd;
}

/** The result of an interrupt. `asked` and `pressed`: it is unknown whether the turn has ended. */
export interface InterruptReport {
  readonly name: string;
  readonly outcome: "interrupted" | "idle" | "asked" | "pressed";
}

/** A changed permission mode. */
export interface ModeChange {
  readonly name: string;
  readonly mode: PermissionMode;
  /** null if no mode was set. */
  readonly before: PermissionMode | null;
}

/** A member after `resume`. */
export interface ResumedMember {
  readonly name: string;
  /** `alive`: it was already running. `down`: another call began to restart it and failed. `unknown`: this machine cannot check it. */
  readonly outcome: "alive" | "restarted" | "failed" | "down" | "unknown";
  readonly backend: string | null;
  readonly paneId: string | null;
  readonly pid: number | null;
  /** Ids of the tasks that were assigned to it again. */
  readonly taskIds: readonly string[];
  readonly error: { readonly code: string; readonly message: string; readonly hint: string | null } | null;
}

/** What `resume` found and started. */
export interface ResumeReport {
  /** `taken`: the caller leads now. `yours`: it led before. `process`: a lead's process runs. `unknown`: it may run elsewhere. */
  readonly lead: "taken" | "yours" | "process" | "unknown";
  /** The number of unread messages to the lead. */
  readonly unread: number;
  readonly members: readonly ResumedMember[];
}

/** A saved archive. */
export interface Archive {
  /** An absolute path. */
  readonly file: string;
  readonly bytes: number;
  /** The number of files in it. */
  readonly files: number;
  /** False if the team wrote during the export: the last files may be a second newer than the first. */
  readonly consistent: boolean;
  /** The git worktree that the file is in: an archive contains whole conversations, so do not commit it. */
  readonly worktree?: string;
}

/** A team in a list. */
export interface TeamSummary {
  readonly name: string;
  readonly displayName: string;
  readonly description: string | null;
  /** `running`: a member works or waits for an answer. `stopped`: no process is running. */
  readonly state: "running" | "idle" | "stopped" | "unknown";
  /** The lead's directory; null if the config cannot be read. */
  readonly directory: string | null;
  /** The names of the members. */
  readonly members: readonly string[];
  /** The number of requests that wait for an answer. */
  readonly waiting: number;
  /** Used by all members. */
  readonly tokens: number;
  /** US dollars; models without a known price count as 0. */
  readonly costUsd: number;
  /** ISO time; null if it is unknown. */
  readonly createdAt: string | null;
  /** False if another program has created the team. */
  readonly ours: boolean;
  /** Why its files cannot be read; null if they can. */
  readonly problem: string | null;
}

/** A run: its goal, its lead, and its limits. */
export interface RunOptions extends CallerOptions, Cancellable, ToolLimits {
  /** The goal of the team. A playbook needs none. */
  readonly goal?: string | undefined;
  /** The lead's model: `haiku`, `sonnet` (the default with a key), `opus`, `scripted[:file]` or any id. */
  readonly model?: string | undefined;
  /** Plays this playbook instead of calling a model. */
  readonly playbook?: string | undefined;
  /** The team's name; by default a new one. */
  readonly team?: string | undefined;
  /** Records what the agents do, as a playbook in this file. */
  readonly record?: string | undefined;
  readonly permissionMode?: PermissionMode | undefined;
  readonly teammateMode?: TeammateMode | undefined;
  /** The lead only coordinates; `permissionMode` applies to its teammates. */
  readonly delegate?: boolean | undefined;
  /** Replaces the lead's system prompt. At most 128,000 bytes. Other users of the machine can read it during the run. */
  readonly systemPrompt?: string | undefined;
  /** Text to add at the end of the lead's system prompt. The same limit and visibility as `systemPrompt`. */
  readonly appendSystemPrompt?: string | undefined;
  /** The limits for all members together. */
  readonly budget?: BudgetLimits | undefined;
  /** Records the agents' decisions and reasons, for `teams logs <name> --debug`. */
  readonly debug?: boolean | undefined;
  /** Records the screen of each tmux pane in this directory, or with `true` in the team's own directory of recordings. */
  readonly recording?: string | true | undefined;
  /** By default, the team is deleted if its work is done, and kept if not. `keep` always keeps it, `delete` always deletes it. */
  readonly afterwards?: "keep" | "delete" | undefined;
  /**
   * Receives each event of the team, in order, before the run resolves. If it returns a promise, the next event and the end of the run wait
   * for it, even after an abort. If it throws, the run is interrupted.
   */
  readonly onEvent?: ((event: TeamEvent) => void | Promise<void>) | undefined;
}

/** A file that a run has changed. */
export interface FileChange {
  /** Relative to the top of the worktree. */
  readonly path: string;
  /** Its former path, if it was renamed or copied. */
  readonly from?: string;
  /** Lines; null for a binary file. */
  readonly added: number | null;
  /** Lines; null for a binary file. */
  readonly removed: number | null;
  readonly status: "added" | "modified" | "deleted" | "renamed" | "copied" | "retyped" | "conflicted";
}

/** The result of a completed run, like `teams run --json`, but with times in milliseconds since the epoch. */
export interface RunResult {
  readonly team: string;
  readonly outcome: "completed";
  /** The lead's final text. */
  readonly result: string;
  /** The id of the lead's conversation. */
  readonly sessionId?: string;
  readonly durationMs?: number;
  /** Used by all members during this run. */
  readonly tokens?: number;
  /** US dollars; models without a known price count as 0. */
  readonly costUsd?: number;
  /** The changes in each worktree; missing outside a git repository. */
  readonly changes?: readonly {
    /** A member that works in this worktree; if there are several, the first teammate. */
    readonly agent: string;
    /** The top of the worktree. */
    readonly directory: string;
    readonly branch?: string;
    /** The number of new commits. */
    readonly commits: number;
    readonly files: readonly FileChange[];
  }[];
  /** Why some changes are missing; missing if none are. */
  readonly changeProblems?: readonly string[];
  /** Unanswered requests. */
  readonly unanswered?: readonly Pick<Approval, "id" | "kind" | "from" | "summary">[];
  /** Worktrees that were not removed, because work in them would be lost. */
  readonly worktrees?: readonly WorktreeEnd[];
  /** All tasks, if one has a verify command. The time of a run is NaN if another program wrote an invalid one. */
  readonly tasks?: readonly Pick<
    Task,
    "id" | "subject" | "status" | "blockedBy" | "owner" | "said" | "shown" | "verifyRun"
  >[];
  /** The command that continues a team with unfinished work. */
  readonly resume?: string;
}
