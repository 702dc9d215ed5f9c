import { messageOf, TeamError } from "../../errors.ts";
import type { Clock } from "../../os/clock.ts";
import { formatProtocol } from "../../protocol/messages.ts";
import { defined } from "../../schema/defined.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import { eventMessageId } from "../../team/mailbox/event-message-id.ts";
import { recordProgress } from "../../team/mailbox/receive.ts";
import { sendMessage } from "../../team/mailbox/send.ts";
import { patchMember } from "../../team/members/members.ts";
import { recordTurnStart } from "../../team/members/permission-mode.ts";
import type { TeamRef } from "../../team/ref.ts";

interface TeamReportsOptions {
  readonly ref: TeamRef;
  readonly name: string;
  readonly color?: string | undefined;
  readonly clock: Clock;
  /** The team was deleted. */
  teamGone(): void;
  problem(text: string): void;
}

/** What a worker tells its team of itself. None of it rejects: a worker ends for want of its team, and for nothing else. */
export class TeamNotifications {
  readonly #options: TeamReportsOptions;

  constructor(options: TeamReportsOptions) {
    this.#options = options;
  }

  /**
   * Does something in the team. One that is deleted in the middle of a turn ends the worker; what cannot be written just
   * then (a lock that somebody holds) is said, and ends nothing.
   */
  async guarded(tell: () => Promise<unknown>): Promise<void> {
    try {
      await tell();
    } catch (error) {
      if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") this.#options.teamGone();
      else this.#options.problem(messageOf(error));
    }
  }

  /** @param mode one that it was given while it worked */
  works(mode: PermissionMode | undefined): Promise<void> {
    const { ref, name } = this.#options;
    return this.guarded(() => recordTurnStart(ref, name, mode));
  }

  rests(): Promise<void> {
    const { ref, name } = this.#options;
    return this.guarded(() => patchMember(ref, name, { isActive: false }));
  }

  /** How far the messages of a turn are. */
  progress(keys: readonly string[], state: "turn_started" | "done"): Promise<void> {
    const { ref, name } = this.#options;
    return this.guarded(() => recordProgress(ref, name, keys, state));
  }

  /**
   * @param notice the fields of the idle notice
   * @param keys of the turn's messages: told once of one turn, whichever process of this agent does it
   */
  idle(notice: Readonly<Record<string, unknown>>, keys: readonly string[]): Promise<void> {
    const { name: from, clock } = this.#options;
    const text = formatProtocol({ type: "idle_notification", from, ...notice }, new Date(clock.now()));
    const messageId = keys.length === 0 ? undefined : eventMessageId("idle", from, ...keys);
    return this.#tellLead({ text, messageId });
  }

  throttled(reason: string): Promise<void> {
    const { name } = this.#options;
    return this.#tellLead({
      text: `The model's server makes ${name} wait (${reason}). It continues by itself as soon as it may; there is nothing to do.`,
      summary: `${name} waits for the model's server`,
    });
  }

  #tellLead(mail: { text: string; summary?: string; messageId?: string | undefined }): Promise<void> {
    const { ref, name: from, color } = this.#options;
    return this.guarded(() =>
      sendMessage(ref, { to: LEAD_NAME, from, ...defined({ ...mail, color }), text: mail.text }),
    );
  }
}
