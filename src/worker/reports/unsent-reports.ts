import { messageOf, TeamError } from "../../errors.ts";
import { sendMessage } from "../../team/mailbox/send.ts";
import {
  readUnsentReports,
  type UnsentReport,
  writeUnsentReports,
} from "../../team/mailbox/unsent-reports.ts";
import type { TeamRef } from "../../team/ref.ts";
import type { WorkerView } from "../view.ts";

interface UnsentReportsOptions {
  readonly ref: TeamRef;
  readonly name: string;
  readonly view: WorkerView;
  isRunning(): boolean;
  /** Called when the last kept report was sent. */
  onSent(): void;
}

/** Errors that no retry solves. */
const FINAL: ReadonlySet<string> = new Set(["TEAM_NOT_FOUND", "RECIPIENT_NOT_FOUND", "RECIPIENT_INACTIVE"]);

/**
 * Sends the agent's reports in order. Keeps a report that cannot be delivered, for example because another program holds the lock
 * of the lead's inbox, in a file of the agent's run, and sends it again at the next check. If the agent ends first, its next
 * process or the process that handles the end sends it.
 */
export class UnsentReports {
  readonly #options: UnsentReportsOptions;
  readonly #kept: UnsentReport[] = [];
  /** Whether the file of an earlier process is read; until then it must not be replaced. */
  #isRead = false;
  #retrying: Promise<void> | undefined;

  constructor(options: UnsentReportsOptions) {
    this.#options = options;
  }

  /** Number of reports that wait for their delivery. */
  get count(): number {
    return this.#kept.length;
  }

  /**
   * Sends a report, or keeps it if that fails.
   * @returns false if it is kept in memory only, since the file could not be written either
   * @throws TeamError TEAM_NOT_FOUND, RECIPIENT_NOT_FOUND, RECIPIENT_INACTIVE
   */
  async send(report: UnsentReport): Promise<boolean> {
    const { ref, view } = this.#options;
    await this.retry();
    try {
      if (this.count === 0) {
        await sendMessage(ref, report);
        return true;
      }
    } catch (error) {
      if (isFinal(error)) throw error;
      view.error(messageOf(error));
      view.note("the report to the lead is kept, and sent again later");
    }
    this.#kept.push(report);
    return this.#save();
  }

  /**
   * Sends the kept reports, oldest first, until one fails: that failure was shown already.
   * @throws TeamError TEAM_NOT_FOUND
   */
  retry(): Promise<void> {
    this.#retrying ??= this.#sendKept().finally(() => {
      this.#retrying = undefined;
    });
    return this.#retrying;
  }

  async #sendKept(): Promise<void> {
    this.#readFile();
    const kept = this.#kept;
    if (kept.length === 0) return;
    for (let report = kept[0]; report !== undefined; report = kept[0]) {
      // The process that handles the end sends the rest.
      if (!this.#options.isRunning()) return;
      try {
        await sendMessage(this.#options.ref, report);
      } catch (error) {
        if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") throw error;
        return;
      }
      kept.shift();
      this.#save();
    }
    this.#options.view.note("the kept report was sent to the lead");
    this.#options.onSent();
  }

  #readFile(): void {
    if (this.#isRead) return;
    const { ref, name, view } = this.#options;
    try {
      this.#kept.unshift(...readUnsentReports(ref, name));
      this.#isRead = true;
    } catch (error) {
      view.error(messageOf(error));
    }
  }

  /** @returns false if the file could not be written; a sent report that is still in the file is dropped by its id if it is sent again */
  #save(): boolean {
    if (!this.#isRead) return false;
    const { ref, name, view } = this.#options;
    try {
      writeUnsentReports(ref, name, this.#kept);
      return true;
    } catch (error) {
      view.error(messageOf(error));
      return false;
    }
  }
}

function isFinal(error: unknown): boolean {
  return error instanceof TeamError && FINAL.has(error.code);
}
