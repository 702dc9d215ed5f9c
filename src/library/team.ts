import type {
  Cancellable,
  DeleteOptions,
  EventsOptions,
  InboxOptions,
  KillOptions,
  ResumeOptions,
  SendOptions,
  ShutdownOptions,
  SpawnOptions,
} from "./options.ts";
import type { Approvals, Tasks, WaitOptions } from "./parts.ts";
import type {
  Archive,
  InterruptReport,
  KillReport,
  ModeChange,
  ResumeReport,
  ShutdownReport,
  WorktreeEnd,
} from "./reports.ts";
import type { Teammate } from "./teammate.ts";
import type {
  Broadcast,
  Budget,
  BudgetLimits,
  Delivery,
  Message,
  PermissionMode,
  TeamEvent,
  TeamStatus,
} from "./values.ts";

/**
 * A team on disk, and the member that acts in it. Nothing stays open between two calls: you need not close a team, and any number
 * of programs, people and agents can use it at the same time.
 */
export interface Team {
  /** The name of its directory. It changes if a lead renames its team. */
  readonly name: string;
  /** The name of the member that acts: `team-lead` for a program outside any agent. */
  readonly actor: string;
  readonly tasks: Tasks;
  readonly approvals: Approvals;

  /**
   * Returns a member of the team.
   * @throws TeamError AGENT_NOT_FOUND, TEAM_NOT_FOUND
   * @example
   * const ada = team.teammate("ada");
   */
  teammate(name: string): Teammate;
  /**
   * Starts a teammate, and resolves when it is ready. An aborted start leaves nothing behind.
   * @throws TeamError SPAWN_FAILED, INVALID_NAME, DUPLICATE_NAME, INVALID_TYPE, INVALID_MODEL, INVALID_INPUT, TMUX_NOT_FOUND,
   * CLI_NOT_FOUND, NESTED_TEAM, PERMISSION_DENIED, INTERRUPTED
   * @example
   * const ada = await team.spawn("ada", { agentType: "reviewer", prompt: "Review src/auth." });
   */
  spawn(name: string, options?: SpawnOptions): Promise<Teammate>;
  /**
   * Sends a message. The message is on disk when the promise resolves. Secrets from the environment are redacted in it.
   * @throws TeamError RECIPIENT_NOT_FOUND, RECIPIENT_INACTIVE, INVALID_INPUT for an empty text, LOCK_TIMEOUT
   * @example
   * await team.send("ada", "Look at src/auth first.");
   */
  send(to: string, text: string, options?: SendOptions): Promise<Delivery>;
  /**
   * Sends a message to every running member except the acting one.
   * @throws TeamError INVALID_INPUT for an empty text, LOCK_TIMEOUT; `details.recipients` names the members that received it
   * @example
   * const { recipients } = await team.broadcast("The build is green again.");
   */
  broadcast(text: string, options?: SendOptions): Promise<Broadcast>;
  /**
   * Returns the status of the team. Detects members whose processes have ended.
   * @throws TeamError TEAM_NOT_FOUND, CORRUPT_FILE
   * @example
   * const { members } = await team.status();
   */
  status(): Promise<TeamStatus>;
  /**
   * Waits until all conditions are met, and returns the status at that moment. `timeoutMs` is in milliseconds.
   * @throws TeamError TIMEOUT, INTERRUPTED, RECIPIENT_INACTIVE if a member that must be idle crashed, MODEL_ERROR if its turn failed,
   * AGENT_NOT_FOUND, TEAM_NOT_FOUND if the team is deleted
   * @example
   * const status = await team.wait({ tasks: true, idle: ["ada", "ben"], timeoutMs: 600_000 });
   */
  wait(options?: WaitOptions): Promise<TeamStatus>;
  /**
   * Iterates over the events of the team, oldest first. Ends when the team is deleted, when the signal aborts, or at `break`.
   * @throws TeamError INVALID_INPUT for an invalid time, STORAGE_ERROR and PERMISSION_DENIED if the log cannot be read
   * @example
   * for await (const event of team.events({ signal })) console.log(event.ts, event.type);
   */
  events(options?: EventsOptions): AsyncIterableIterator<TeamEvent>;
  /**
   * Returns the messages of the acting member, oldest first.
   * @throws TeamError INVALID_INPUT for `markRead` if an agent reads this inbox itself
   * @example
   * const news = await team.inbox({ unread: true, markRead: true });
   */
  inbox(options?: InboxOptions): Promise<readonly Message[]>;
  /**
   * Returns the last lines of a member's screen, 40 by default.
   * @throws TeamError AGENT_NOT_FOUND, INVALID_INPUT, RECIPIENT_INACTIVE if it has no screen now
   * @example
   * const screen = await team.peek("ada", { lines: 20 });
   */
  peek(name: string, options?: { readonly lines?: number | undefined }): Promise<readonly string[]>;
  /**
   * Interrupts a member's turn; its process keeps running. Waits until the turn has ended, at most 5 seconds.
   * @throws TeamError NOT_LEAD, AGENT_NOT_FOUND, RECIPIENT_INACTIVE, TIMEOUT, INTERRUPTED
   * @example
   * await team.interrupt("ada");
   */
  interrupt(name: string, options?: Cancellable): Promise<InterruptReport>;
  /**
   * Changes a member's permission mode. The new mode applies from its next tool call.
   * @throws TeamError NOT_LEAD, AGENT_NOT_FOUND, PERMISSION_DENIED
   * @example
   * await team.setMode("ada", "acceptEdits");
   */
  setMode(name: string, mode: PermissionMode): Promise<ModeChange>;
  /**
   * Sets limits for the whole team, in tokens and US dollars, and returns its budget. An omitted limit stays as it is; without
   * limits, nothing changes.
   * @throws TeamError NOT_LEAD, PERMISSION_DENIED for an agent's model, INVALID_MODEL if a price is unknown, INVALID_INPUT
   * @example
   * const { spent } = await team.setBudget({ maxTokens: 2_000_000 });
   */
  setBudget(limits: BudgetLimits): Promise<Budget>;
  /**
   * Asks the named teammates, or all, to shut down, and waits until they have ended. `timeoutMs` is in milliseconds, 30 000 by
   * default. A teammate that refuses, or does not end in time, keeps running; its report says so.
   * @throws TeamError NOT_LEAD, AGENT_NOT_FOUND, INVALID_INPUT for the lead, INTERRUPTED
   * @example
   * const reports = await team.shutdown(["ada"], { reason: "The plan changed." });
   */
  shutdown(names?: readonly string[], options?: ShutdownOptions): Promise<readonly ShutdownReport[]>;
  /**
   * Ends the named teammates, or all: asks them to shut down, and sends signals after `timeoutMs` milliseconds, 5000 by default.
   * @throws TeamError NOT_LEAD, AGENT_NOT_FOUND, INVALID_INPUT for the lead, WORKTREE_DIRTY, ACTIVE_MEMBERS, PERMISSION_DENIED,
   * INTERRUPTED
   * @example
   * await team.kill(["ada"], { force: true });
   */
  kill(names?: readonly string[], options?: KillOptions): Promise<readonly KillReport[]>;
  /**
   * Stops all teammates, and keeps the team on disk for `resume`. `timeoutMs` is in milliseconds, 30 000 by default.
   * @throws TeamError NOT_LEAD, ACTIVE_MEMBERS while a lead's process lives, PERMISSION_DENIED for another program's team, INTERRUPTED
   * @example
   * await team.down({ reason: "Until tomorrow." });
   */
  down(options?: ShutdownOptions): Promise<readonly ShutdownReport[]>;
  /**
   * Restarts the members that have ended, with their conversations, messages and tasks. Idempotent. If a member fails to
   * start, the promise resolves, and the member has the `outcome` `failed`.
   * @throws TeamError NOT_LEAD, TMUX_NOT_FOUND, INVALID_INPUT, PERMISSION_DENIED for another program's team, SPAWN_FAILED without the
   * command line of this package, INTERRUPTED (`details.report` says which members had started)
   * @example
   * const { members } = await team.resume();
   */
  resume(options?: ResumeOptions): Promise<ResumeReport>;
  /**
   * Saves the team as one archive with its messages, tasks and conversations, which `teams import` restores. Without `file`, the
   * archive gets a free name in the directory of the caller. An aborted export saves nothing.
   * @throws TeamError INVALID_INPUT if `file` is a directory or in a missing one, PERMISSION_DENIED, STORAGE_ERROR, INTERRUPTED
   * @example
   * const { bytes } = await team.export("/tmp/review.tar.gz");
   */
  export(file?: string, options?: Cancellable): Promise<Archive>;
  /**
   * Deletes the team: its config, inboxes and tasks. Returns what happened to its worktrees: a worktree with unsaved work is kept. An
   * abort keeps the team, unless panes or files are already removed: the deletion then completes.
   * @throws TeamError ACTIVE_MEMBERS without `force`, NOT_LEAD, PERMISSION_DENIED for another program's team, INTERRUPTED
   * (`details.ended` names the members that `force` had ended)
   * @example
   * await team.delete({ force: true });
   */
  delete(options?: DeleteOptions): Promise<readonly WorktreeEnd[]>;
}
