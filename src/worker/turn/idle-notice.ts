import { cutText } from "../../text/characters/cut-text.ts";

/** How a turn ended, as reported in an idle notice. */
export interface TurnSummary {
  readonly outcome: "completed" | "interrupted" | "failed";
  readonly toolCalls: number;
  /** The agent's last text. */
  readonly text: string;
  readonly failure?: string | undefined;
  /** An alert of its program: worth a notice, even if the text is the same. */
  readonly isNews?: boolean;
}

/** Maximum length of a failure's reason, in UTF-16 units. */
const MAX_FAILURE = 4_000;

/**
 * Whether the end of a turn deserves a notice. It does not after a turn without a tool call and without a new text: this ends
 * an exchange of thanks (protocol.md section 5, S32). The first change to idle always does, since the lead may wait for it.
 * @param lastResult of the last notice; undefined if there was none
 */
export function isWorthNotice(turn: TurnSummary, lastResult: string | undefined): boolean {
  if (lastResult === undefined || turn.toolCalls > 0 || turn.isNews === true) return true;
  if (turn.outcome === "failed") return turn.failure !== lastResult;
  return turn.text !== "" && turn.text !== lastResult;
}

/** Returns the name of an outcome in a notice. */
export function idleReason(outcome: TurnSummary["outcome"]): string {
  return { completed: "available", interrupted: "interrupted", failed: "failed" }[outcome];
}

/** Other work that a notice reports. */
interface WorkDone {
  /** `[to ada] found it`: the newest message to a peer. */
  readonly peerSummary?: string | undefined;
  /** The task that was completed last. */
  readonly completedTaskId?: string | undefined;
  /** A task in progress, which a failed turn leaves unfinished. */
  readonly heldTaskId?: string | undefined;
}

/** Returns the fields of `idle_notification` for a turn. `toolCalls` is ours: without tool calls a lead is not woken. */
export function idleNoticeFields(
  turn: TurnSummary,
  { peerSummary, completedTaskId, heldTaskId }: WorkDone = {},
): Record<string, unknown> {
  const failedTaskId = turn.outcome === "failed" ? heldTaskId : undefined;
  const taskId = failedTaskId ?? completedTaskId;
  const completedStatus = failedTaskId === undefined ? "success" : "failed";
  return {
    idleReason: idleReason(turn.outcome),
    ...(peerSummary === undefined ? {} : { summary: peerSummary }),
    ...(turn.text === "" ? {} : { result: turn.text }),
    ...(taskId === undefined ? {} : { completedTaskId: taskId, completedStatus }),
    ...(turn.failure === undefined ? {} : { failureReason: cutText(turn.failure, MAX_FAILURE) }),
    toolCalls: turn.toolCalls,
  };
}

/**
 * Collects the content of the next idle notice. Several turns without a pause (messages came while one ran) are one piece of
 * work and end in one notice.
 */
export class WorkSinceIdle {
  #turn: TurnSummary | undefined;
  #lastResult: string | undefined;
  #done: WorkDone = {};

  /** Records a message to a peer: the lead gets its summary in the next notice, not the message. */
  addPeerMessage(peer: string, summary: string): void {
    this.#done = { ...this.#done, peerSummary: `[to ${peer}] ${summary}` };
  }

  addCompletedTask(taskId: string): void {
    this.#done = { ...this.#done, completedTaskId: taskId };
  }

  addTurn(turn: TurnSummary): void {
    const before = this.#turn;
    // A later success does not hide a failure: the lead is notified of it.
    const hadFailed = turn.outcome === "completed" && before?.outcome === "failed";
    this.#turn = {
      outcome: hadFailed ? "failed" : turn.outcome,
      toolCalls: turn.toolCalls + (before?.toolCalls ?? 0),
      text: turn.text || (before?.text ?? ""),
      failure: turn.failure ?? before?.failure,
      isNews: turn.isNews ?? false,
    };
  }

  /**
   * Returns the fields of one notice for the added turns, and starts over; undefined if the turns do not deserve a notice.
   * @param heldTaskId the agent's newest task in progress
   */
  takeNotice(heldTaskId?: string): Record<string, unknown> | undefined {
    const turn = this.#turn;
    this.#turn = undefined;
    if (turn === undefined || !isWorthNotice(turn, this.#lastResult)) return undefined;
    this.#lastResult = turn.outcome === "failed" ? turn.failure : turn.text;
    const fields = idleNoticeFields(turn, { ...this.#done, heldTaskId });
    this.#done = {};
    return fields;
  }
}
