import type {
  Cancellable,
  EventsOptions,
  InboxOptions,
  KillOptions,
  SendOptions,
  ShutdownOptions,
} from "./options.ts";
import type { Approvals, Tasks, TeammateWaitOptions } from "./parts.ts";
import type { InterruptReport, KillReport, ModeChange, ResumedMember, ShutdownReport } from "./reports.ts";
import type {
  Budget,
  BudgetLimits,
  Delivery,
  MemberStatus,
  Message,
  PermissionMode,
  TeamEvent,
} from "./values.ts";

/** A member of a team, identified by its name. Its process may have ended or been restarted since. */
export interface Teammate {
  readonly name: string;
  /** The team's name. */
  readonly team: string;
  /**
   * The tasks of this member: `list` returns its own, `add` assigns the new task to it, and `claim`, `update`, `done` and `remove` act
   * as this member. They reject with NOT_LEAD if the calling process is the agent of another member.
   */
  readonly tasks: Tasks;
  /** The requests of this member. */
  readonly approvals: Approvals;

  /**
   * Sends this member a message from the acting member. The message is on disk when the promise resolves.
   * @throws TeamError RECIPIENT_NOT_FOUND, RECIPIENT_INACTIVE, INVALID_INPUT for an empty text, LOCK_TIMEOUT
   * @example
   * await teammate.send("Please also look at the tests.");
   */
  send(text: string, options?: SendOptions): Promise<Delivery>;
  /**
   * Returns its status. Detects whether its process has ended.
   * @throws TeamError AGENT_NOT_FOUND, TEAM_NOT_FOUND
   * @example
   * const { state, activity, tokens } = await teammate.status();
   */
  status(): Promise<MemberStatus>;
  /**
   * Waits until all conditions are met, and returns its status at that moment. `timeoutMs` is in milliseconds.
   * @throws TeamError TIMEOUT, INTERRUPTED, RECIPIENT_INACTIVE if it crashed, MODEL_ERROR if its turn failed, AGENT_NOT_FOUND
   * @example
   * await teammate.wait({ message: true, timeoutMs: 120_000 });
   */
  wait(options?: TeammateWaitOptions): Promise<MemberStatus>;
  /**
   * Iterates over the events of this member, oldest first. Ends when the team is deleted, when the signal aborts, or at `break`.
   * @throws TeamError INVALID_INPUT for an invalid time, STORAGE_ERROR and PERMISSION_DENIED if the log cannot be read
   * @example
   * for await (const event of teammate.events({ since: 0, signal })) console.log(event.type);
   */
  events(options?: EventsOptions): AsyncIterableIterator<TeamEvent>;
  /**
   * Returns the messages to this member, oldest first.
   * @throws TeamError INVALID_INPUT for `markRead` if an agent reads this inbox itself
   * @example
   * const [last] = (await teammate.inbox({ all: true })).slice(-1);
   */
  inbox(options?: InboxOptions): Promise<readonly Message[]>;
  /**
   * Returns the last lines of its screen, 40 by default.
   * @throws TeamError AGENT_NOT_FOUND, INVALID_INPUT, RECIPIENT_INACTIVE if it has no screen now
   * @example
   * console.log((await teammate.peek()).join("\n"));
   */
  peek(options?: { readonly lines?: number | undefined }): Promise<readonly string[]>;
  /**
   * Interrupts its turn; its process keeps running. Waits until the turn has ended, at most 5 seconds.
   * @throws TeamError NOT_LEAD, AGENT_NOT_FOUND, RECIPIENT_INACTIVE, TIMEOUT, INTERRUPTED
   * @example
   * const { outcome } = await teammate.interrupt();
   */
  interrupt(options?: Cancellable): Promise<InterruptReport>;
  /**
   * Changes its permission mode. The new mode applies from its next tool call.
   * @throws TeamError NOT_LEAD, AGENT_NOT_FOUND, PERMISSION_DENIED
   * @example
   * await teammate.setMode("plan");
   */
  setMode(mode: PermissionMode): Promise<ModeChange>;
  /**
   * Sets its limits, in tokens and US dollars, and returns its budget. An omitted limit stays as it is; without limits, nothing changes.
   * @throws TeamError NOT_LEAD, AGENT_NOT_FOUND, PERMISSION_DENIED for an agent's model, INVALID_MODEL if a price is unknown,
   * INVALID_INPUT
   * @example
   * await teammate.setBudget({ maxCostUsd: 2.5 });
   */
  setBudget(limits: BudgetLimits): Promise<Budget>;
  /**
   * Asks this member to shut down, and waits until it has ended. `timeoutMs` is in milliseconds, 30 000 by default.
   * @throws TeamError NOT_LEAD, AGENT_NOT_FOUND, INVALID_INPUT for the lead, INTERRUPTED
   * @example
   * if ((await teammate.shutdown()).outcome === "rejected") await teammate.kill();
   */
  shutdown(options?: ShutdownOptions): Promise<ShutdownReport>;
  /**
   * Ends this member: asks it to shut down, and sends signals after `timeoutMs` milliseconds, 5000 by default.
   * @throws TeamError NOT_LEAD, AGENT_NOT_FOUND, INVALID_INPUT for the lead, WORKTREE_DIRTY, ACTIVE_MEMBERS, PERMISSION_DENIED,
   * INTERRUPTED
   * @example
   * await teammate.kill({ force: true });
   */
  kill(options?: KillOptions): Promise<KillReport>;
  /**
   * Restarts this member if it has ended, with its conversation, messages and tasks. Idempotent. If the start fails, the promise
   * resolves with the `outcome` `failed`.
   * @throws TeamError NOT_LEAD, AGENT_NOT_FOUND, TMUX_NOT_FOUND, INVALID_INPUT, PERMISSION_DENIED for another program's team,
   * SPAWN_FAILED without the command line of this package, INTERRUPTED
   * @example
   * await teammate.resume();
   */
  resume(options?: Cancellable): Promise<ResumedMember>;
}
