import { messageOf, systemCode, TeamError } from "../../errors.ts";
import { teamExists } from "../../team/config/config.ts";
import { assertTeam } from "../../team/config/team-lock.ts";
import { type InboxEntry, markAsRead, recordProgress, unreadMessages } from "../../team/mailbox/receive.ts";
import type { WorkerContext } from "../context.ts";

interface InboxHandlers {
  /** Handles a message that needs no model, even during a turn. @returns whether it was handled; then it is no input for a turn */
  handleControlMessage(entry: InboxEntry): Promise<boolean>;
  queueForTurn(entries: readonly InboxEntry[]): void;
  /** Called after each read, with or without new messages. */
  afterRead(): void;
}

/**
 * Reads the inbox at every ring until the signal aborts: subscribe (the bell is open), read, wait. There is one reader, so
 * that no message is lost at a change between busy and idle (S22).
 */
export class InboxReader {
  readonly #context: WorkerContext;
  readonly #handlers: InboxHandlers;
  /** Keys of messages that the worker has and that are not marked as read; a second delivery of one is ignored. */
  readonly #pending = new Set<string>();
  #failedCount = 0;

  constructor(context: WorkerContext, handlers: InboxHandlers) {
    this.#context = context;
    this.#handlers = handlers;
  }

  /** Number of messages whose handling failed. They stay unread, and the next start of the agent tries them again. */
  get failedCount(): number {
    return this.#failedCount;
  }

  async run(): Promise<void> {
    const { bell, signal } = this.#context;
    while (!signal.aborted) {
      let readsAgain = false;
      await this.#read().catch((error: unknown) => {
        readsAgain = this.#wasRenamed(error);
        this.#reportProblem(error);
      });
      if (readsAgain) continue;
      this.#handlers.afterRead();
      if ((await bell.wait({ signal })) === "aborted") return;
    }
  }

  /** Lets the next read find these messages again. */
  forget(keys: readonly string[]): void {
    for (const key of keys) this.#pending.delete(key);
  }

  /** Marks messages as read once the conversation has them. A failure ends no turn: the next read marks them. */
  async markRecorded(keys: readonly string[]): Promise<void> {
    try {
      await this.#markRead(keys);
    } catch (error) {
      for (const key of keys) this.#pending.delete(key);
      this.#reportProblem(error);
    }
  }

  async #markRead(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    await markAsRead(this.#context.ref, this.#context.name, [...keys], undefined, this.#showRepair);
    for (const key of keys) this.#pending.delete(key);
  }

  readonly #showRepair = (repair: string): void => this.#context.view.error(repair);

  #reportProblem(error: unknown): void {
    const { lifecycle, view } = this.#context;
    if (this.#wasRenamed(error)) return;
    if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") lifecycle.teamGone();
    else if (systemCode(error) === "ENOENT") lifecycle.teamGone();
    else view.error(messageOf(error));
  }

  /** Whether the team was missing only because it was renamed meanwhile: the next read finds its inbox. */
  #wasRenamed(error: unknown): boolean {
    return error instanceof TeamError && error.code === "TEAM_NOT_FOUND" && teamExists(this.#context.ref);
  }

  async #read(): Promise<void> {
    const { ref, name, agent } = this.#context;
    // Without this check a deleted team would look like an empty inbox.
    assertTeam(ref);
    const unread = await unreadMessages(ref, name, { warn: this.#showRepair });
    const fresh = eachOnce(unread).filter((entry) => !this.#pending.has(entry.key));
    if (fresh.length === 0) return;
    const { handledKeys } = await agent.get();
    const late = fresh.flatMap(({ key }) => (handledKeys.has(key) ? [key] : []));
    await this.#markRead(late);
    // The agent's decision at idle may depend on these messages, for example on a plan that it left unanswered.
    if (late.length > 0) this.#context.wake.set();
    const forTurn: InboxEntry[] = [];
    for (const entry of fresh) {
      if (handledKeys.has(entry.key)) continue;
      this.#pending.add(entry.key);
      if (!(await this.#handleControlMessage(entry))) forTurn.push(entry);
    }
    if (forTurn.length > 0) this.#handlers.queueForTurn(forTurn);
  }

  /** Does not throw: after a failure the message stays unread, and the other messages are handled. */
  async #handleControlMessage(entry: InboxEntry): Promise<boolean> {
    try {
      if (!(await this.#handlers.handleControlMessage(entry))) return false;
      await this.#markRead([entry.key]);
    } catch (error) {
      this.#failedCount += 1;
      this.#reportProblem(error);
      return true;
    }
    try {
      await recordProgress(this.#context.ref, this.#context.name, [entry.key], "done");
    } catch (error) {
      // The message is handled and marked; only the last entry in the journal is missing.
      this.#reportProblem(error);
    }
    return true;
  }
}

/** A foreign writer may have added an entry twice; marking the first marks both. */
function eachOnce(entries: readonly InboxEntry[]): InboxEntry[] {
  return [...new Map(entries.map((entry) => [entry.key, entry])).values()];
}
