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

/** A member of a team, by its name. It may have ended, or have been started again since. */
export interface Teammate {
  readonly name: string;
  /** The team's name. */
  readonly team: string;
  /**
   * The tasks of this member: `list` returns its own, `add` assigns the new task to it, and `claim`, `update`, `done` and `remove` act
   * as this member: an agent that is another member gets NOT_LEAD.
   */
  readonly tasks: Tasks;
  /** The requests of this member. */
  readonly approvals: Approvals;

  /**
   * Sends it a message from the acting member. When it resolves, the message is on disk.
   * @throws TeamError RECIPIENT_NOT_FOUND, RECIPIENT_INACTIVE, INVALID_INPUT for an empty text, LOCK_TIMEOUT
   * @example
   * await teammate.send("Please also look at the tests.");
   */
  send(text: string, options?: SendOptions): Promise<Delivery>;
  /**
   * Returns its state. Notices whether its process has ended.
   * @throws TeamError AGENT_NOT_FOUND, TEAM_NOT_FOUND
   * @example
   * const { state, activity, tokens } = await teammate.status();
   */
  status(): Promise<MemberStatus>;
  /**
   * Waits until the conditions are true, and returns its state of that moment. `timeoutMs` is in milliseconds.
   * @throws TeamError TIMEOUT, INTERRUPTED, RECIPIENT_INACTIVE if it crashed, MODEL_ERROR if its turn failed, AGENT_NOT_FOUND
   * @example
   * await teammate.wait({ message: true, timeoutMs: 120_000 });
   */
  wait(options?: TeammateWaitOptions): Promise<MemberStatus>;
  /**
   * Iterates over the events of this member, oldest first. Ends when the team is deleted, when the signal aborts, and at `break`.
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
   * Ends its turn; it keeps running. Waits for that, at most 5 seconds.
   * @throws TeamError NOT_LEAD, AGENT_NOT_FOUND, RECIPIENT_INACTIVE, TIMEOUT, INTERRUPTED
   * @example
   * const { outcome } = await teammate.interrupt();
   */
  interrupt(options?: Cancellable): Promise<InterruptReport>;
  /**
   * Changes its permission mode, from its next tool call on.
   * @throws TeamError NOT_LEAD, AGENT_NOT_FOUND, PERMISSION_DENIED
   * @example
   * await teammate.setMode("plan");
   */
  setMode(mode: PermissionMode): Promise<ModeChange>;
  /**
   * Sets its limits, in tokens and US dollars, and returns its budget. A limit that is not given stays; without limits nothing changes.
   * @throws TeamError NOT_LEAD, AGENT_NOT_FOUND, PERMISSION_DENIED for an agent's model, INVALID_MODEL if a price is unknown,
   * INVALID_INPUT
   * @example
   * await teammate.setBudget({ maxCostUsd: 2.5 });
   */
  setBudget(limits: BudgetLimits): Promise<Budget>;
  /**
   * Asks it to shut down, and waits until it has ended. `timeoutMs` is in milliseconds, 30 000 by default.
   * @throws TeamError NOT_LEAD, AGENT_NOT_FOUND, INVALID_INPUT for the lead, INTERRUPTED
   * @example
   * if ((await teammate.shutdown()).outcome === "rejected") await teammate.kill();
   */
  shutdown(options?: ShutdownOptions): Promise<ShutdownReport>;
  /**
   * Ends it: asks first, and sends signals after `timeoutMs` milliseconds, 5000 by default.
   * @throws TeamError NOT_LEAD, AGENT_NOT_FOUND, INVALID_INPUT for the lead, WORKTREE_DIRTY, ACTIVE_MEMBERS, PERMISSION_DENIED,
   * INTERRUPTED
   * @example
   * await teammate.kill({ force: true });
   */
  kill(options?: KillOptions): Promise<KillReport>;
  /**
   * Starts it again if it has ended, with its conversation, messages and tasks. Idempotent. A failed start does not reject: the
   * `outcome` is `failed`.
   * @throws TeamError NOT_LEAD, AGENT_NOT_FOUND, TMUX_NOT_FOUND, INVALID_INPUT, PERMISSION_DENIED for another program's team,
   * SPAWN_FAILED without the command line of this package, INTERRUPTED
   * @example
   * await teammate.resume();
   */
  resume(options?: Cancellable): Promise<ResumedMember>;
}
