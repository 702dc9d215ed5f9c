import { systemCode, TeamError } from "../../errors.ts";
import { assertTeam } from "../../team/config/team-lock.ts";
import { type InboxEntry, markAsRead, recordProgress, unreadMessages } from "../../team/mailbox/receive.ts";
import type { TeamRef } from "../../team/ref.ts";
import type { Bell } from "../../wakeup/bell.ts";

export interface MailOptions {
  readonly ref: TeamRef;
  readonly agent: string;
  readonly bell: Bell;
  readonly signal: AbortSignal;
  /** Keys of messages that a conversation of before already holds. */
  handled(): Promise<ReadonlySet<string>>;
  /** Acts on what code alone handles, also in the middle of a turn; true when it did and the message is done. */
  atOnce(entry: InboxEntry): Promise<boolean>;
  /** What is for a turn, in order. */
  arrived(entries: readonly InboxEntry[]): void;
  /** The team was deleted. */
  teamGone(): void;
  problem(error: unknown): void;
  /** The bell rang, and what it may have rung for was read. */
  rang(): void;
}

/**
 * Reads the inbox at every ring until the signal aborts: subscribe (the bell is open), read, wait. One reader, so that
 * a change between busy and idle loses nothing (S22).
 */
export class InboxReader {
  readonly #options: MailOptions;
  /** Keys that are with the worker and not yet marked read; a redelivery of one is no second message. */
  readonly #held = new Set<string>();
  #failed = 0;

  constructor(options: MailOptions) {
    this.#options = options;
  }

  /** How many messages could not be acted on: they stay unread for the next start, and nothing more comes of them in this one. */
  get failed(): number {
    return this.#failed;
  }

  async run(): Promise<void> {
    const { bell, signal } = this.#options;
    while (!signal.aborted) {
      await this.#readGuarded();
      this.#options.rang();
      if ((await bell.wait({ signal })) === "aborted") return;
    }
  }

  /** Marks as read what the conversation now holds. */
  async done(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    await markAsRead(this.#options.ref, this.#options.agent, [...keys]);
    for (const key of keys) this.#held.delete(key);
  }

  /** The same at the begin of a turn, which it does not end: what cannot be marked just then is marked at the next look. */
  async recorded(keys: readonly string[]): Promise<void> {
    try {
      await this.done(keys);
    } catch (error) {
      for (const key of keys) this.#held.delete(key);
      this.#problem(error);
    }
  }

  async #readGuarded(): Promise<void> {
    try {
      await this.#read();
    } catch (error) {
      this.#problem(error);
    }
  }

  #problem(error: unknown): void {
    if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") this.#options.teamGone();
    else if (systemCode(error) === "ENOENT") this.#options.teamGone();
    else this.#options.problem(error);
  }

  async #read(): Promise<void> {
    const { ref, agent } = this.#options;
    // An inbox that is not there is an empty one, also in a team that is gone.
    assertTeam(ref);
    const fresh = eachOnce(await unreadMessages(ref, agent)).filter((entry) => !this.#held.has(entry.key));
    if (fresh.length === 0) return;
    const handled = await this.#options.handled();
    const known = fresh.filter((entry) => handled.has(entry.key));
    await this.done(known.map((entry) => entry.key));
    const forTurn: InboxEntry[] = [];
    for (const entry of fresh) {
      if (handled.has(entry.key)) continue;
      this.#held.add(entry.key);
      if (!(await this.#handledAtOnce(entry))) forTurn.push(entry);
    }
    if (forTurn.length > 0) this.#options.arrived(forTurn);
  }

  /** One that cannot be acted on keeps none of its neighbours from the worker; unread, it is tried again by the next start. */
  async #handledAtOnce(entry: InboxEntry): Promise<boolean> {
    try {
      if (!(await this.#options.atOnce(entry))) return false;
      await this.done([entry.key]);
    } catch (error) {
      this.#failed += 1;
      this.#problem(error);
      return true;
    }
    try {
      await recordProgress(this.#options.ref, this.#options.agent, [entry.key], "done");
    } catch (error) {
      // It was acted on and is marked: only the journal lacks the last word on it.
      this.#problem(error);
    }
    return true;
  }
}

/** A foreign writer may have put one in twice; both are marked with the first. */
function eachOnce(entries: readonly InboxEntry[]): InboxEntry[] {
  return [...new Map(entries.map((entry) => [entry.key, entry])).values()];
}
