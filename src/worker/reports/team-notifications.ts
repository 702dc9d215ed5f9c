import { messageOf, TeamError } from "../../errors.ts";
import type { Clock } from "../../os/clock.ts";
import { newUuid } from "../../os/process/identity.ts";
import { formatProtocol, MAX_IDLE_RESULT } from "../../protocol/messages.ts";
import { defined } from "../../schema/defined.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import { readTeam } from "../../team/config/config.ts";
import { recordProgress } from "../../team/mailbox/receive.ts";
import { eventMessageId, sendMessage } from "../../team/mailbox/send.ts";
import { lookUpMember, patchMember } from "../../team/members/members.ts";
import { recordTurnStart } from "../../team/members/permission-mode.ts";
import type { TeamRef } from "../../team/ref.ts";
import type { LazyAgent } from "../lazy-agent.ts";
import type { WorkerLifecycle } from "../lifecycle.ts";
import type { StatusKeeper } from "../status-record.ts";
import type { WorkerView } from "../view.ts";
import { UnsentReports } from "./unsent-reports.ts";

interface TeamNotificationsOptions {
  readonly ref: TeamRef;
  readonly name: string;
  readonly color?: string | undefined;
  readonly clock: Clock;
  readonly lifecycle: WorkerLifecycle;
  readonly view: WorkerView;
  readonly status: StatusKeeper;
  readonly agent: LazyAgent;
}

/** Notifications of a worker to its team. They never reject: only a deleted team ends the worker. */
export class TeamNotifications {
  readonly #options: TeamNotificationsOptions;
  readonly #reports: UnsentReports;
  /** Progress that the journal lacks, since it could not be written: a turn without an end would be resumed by the next process. */
  readonly #unrecorded: (() => Promise<void>)[] = [];

  constructor(options: TeamNotificationsOptions) {
    const { lifecycle, status, agent } = options;
    this.#options = options;
    this.#reports = new UnsentReports({
      ...options,
      isRunning: () => lifecycle.isRunning,
      onSent: () => {
        status.setBackgroundCount(agent.backgroundCount);
        if (status.state === "idle") status.setActivity("");
      },
    });
  }

  /** Number of idle notices that wait for their delivery: until then the agent must not look done. */
  get unsentCount(): number {
    return this.#reports.count;
  }

  /** Sends again the idle notices that could not be delivered, and records the progress that could not be written. */
  async resendReports(): Promise<void> {
    await this.attempt(() => this.#reports.retry());
    if (this.#unrecorded.length > 0) await this.attempt(() => this.#recordAgain());
  }

  /** Runs an operation on the team. A deleted team ends the worker; any other failure (a held lock) is only shown. */
  async attempt(operation: () => Promise<unknown>): Promise<void> {
    try {
      await operation();
    } catch (error) {
      if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") this.#options.lifecycle.teamGone();
      else this.#options.view.error(messageOf(error));
    }
  }

  /** Records that a turn starts. @param mode the mode that was set while the agent was running */
  setActive(mode: PermissionMode | undefined): Promise<void> {
    const { ref, name } = this.#options;
    return this.attempt(() => recordTurnStart(ref, name, mode));
  }

  setInactive(): Promise<void> {
    const { ref, name } = this.#options;
    return this.attempt(() => patchMember(ref, name, { isActive: false }));
  }

  /** Records the progress of a turn's messages in the journal. */
  recordProgress(keys: readonly string[], state: "turn_started" | "done"): Promise<void> {
    const { ref, name } = this.#options;
    this.#unrecorded.push(() => recordProgress(ref, name, keys, state));
    return this.attempt(() => this.#recordAgain());
  }

  /** Records in order; what fails stays for the next call. @throws as {@link recordProgress} */
  async #recordAgain(): Promise<void> {
    for (let record = this.#unrecorded.shift(); record !== undefined; record = this.#unrecorded.shift()) {
      try {
        await record();
      } catch (error) {
        this.#unrecorded.unshift(record);
        throw error;
      }
    }
  }

  /**
   * @param notice the fields of the idle notice
   * @param keys of the turn's messages: the lead is notified once for a turn, even by several processes of this agent
   * @returns false if the notice is lost with this process: it is neither delivered nor on disk
   */
  async notifyIdle(notice: Readonly<Record<string, unknown>>, keys: readonly string[]): Promise<boolean> {
    const { name: from, clock, color } = this.#options;
    const messageId = keys.length === 0 ? newUuid() : eventMessageId("idle", from, ...keys);
    let isSafe = true;
    await this.attempt(async () => {
      const result = await this.#resultOf(notice);
      const fields = { type: "idle_notification", from, ...notice, ...result } as const;
      const text = formatProtocol(fields, new Date(clock.now()));
      isSafe = await this.#reports.send({ to: LEAD_NAME, from, ...defined({ color }), text, messageId });
    });
    return isSafe;
  }

  async #resultOf({ result }: Readonly<Record<string, unknown>>): Promise<{ readonly result?: string }> {
    if (typeof result !== "string") return {};
    if (result.length <= MAX_IDLE_RESULT) return { result };
    // Loaded only here: it writes a file, with code that a start does not need.
    const { noticeResult } = await import("./notice-result.ts");
    const leadDirectory = (): string => lookUpMember(readTeam(this.#options.ref), LEAD_NAME)?.cwd || "/";
    return { result: noticeResult(result, leadDirectory) };
  }

  notifyThrottled(reason: string): Promise<void> {
    const { name } = this.#options;
    return this.#notifyLead({
      text: `The model's server makes ${name} wait (${reason}). ${name} continues as soon as the server allows it; you need not do anything.`,
      summary: `${name} waits for the model's server`,
    });
  }

  /** Notifies the lead once of the same damage, whatever the number of starts. */
  notifyDamaged(damage: string): Promise<void> {
    const { name } = this.#options;
    return this.#notifyLead({
      text: `${name} has lost a part of its conversation: ${damage}. Send ${name} again what it needs to know.`,
      summary: `${name} has lost a part of its conversation`,
      messageId: eventMessageId("damaged", name, damage),
    });
  }

  #notifyLead(mail: { text: string; summary: string; messageId?: string }): Promise<void> {
    const { ref, name: from, color } = this.#options;
    return this.attempt(() =>
      sendMessage(ref, { to: LEAD_NAME, from, ...defined({ ...mail, color }), text: mail.text }),
    );
  }
}
