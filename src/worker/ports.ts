import type { Clock } from "../os/clock.ts";
import type { PermissionMode } from "../schema/permission-modes.ts";
import type { InboxEntry } from "../team/mailbox/receive.ts";
import type { TeamRef } from "../team/ref.ts";
import type { Bell } from "../wakeup/bell.ts";
import type { StatusKeeper } from "./status-record.ts";
import type { WorkerView } from "./view.ts";

/** Who a worker is, and what it acts with. */
export interface WorkerParts {
  readonly ref: TeamRef;
  readonly name: string;
  readonly color?: string | undefined;
  readonly role: "teammate" | "lead";
  readonly mode: PermissionMode;
  /** Mode after an approved plan that names none. */
  readonly modeAfterPlan: PermissionMode;
  readonly planFile: string;
  /** The file of its conversation: one that an earlier process left is gone on with. */
  readonly transcript: string;
  /** Everything that may ring: its FIFO, the watch of its inbox, the slow check. */
  readonly bell: Bell;
  readonly status: StatusKeeper;
  readonly view: WorkerView;
  readonly clock: Clock;
  /** Ends the worker from outside; a running turn is interrupted. */
  readonly signal: AbortSignal;
  /**
   * Nothing is left to do: go on waiting, or end. Called again after every waking.
   * @param held unread messages that are no reason to wait: idle notices for the moment when nobody works, and what could
   * not be acted on
   * @param interrupted the newest turn was ended by somebody, who has more to say
   */
  idle?(held: number, interrupted: boolean): Promise<"wait" | "over">;
  /**
   * Whether any teammate is in a turn, or has said what this worker has not seen; a lead's model is not woken by plain words
   * while one is.
   * @param held as for {@link idle}
   */
  othersWork?(held: number): Promise<boolean>;
  /** What code alone does with a message of this type (a lead's side of shutdowns and permissions). */
  onSilent?(entry: InboxEntry): Promise<void>;
}
