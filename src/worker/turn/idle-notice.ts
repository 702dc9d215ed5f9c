/** How a turn ended, as far as an idle notice tells it. */
export interface TurnSummary {
  readonly outcome: "completed" | "interrupted" | "failed";
  readonly toolCalls: number;
  /** The last thing it said. */
  readonly text: string;
  readonly failure?: string | undefined;
}

/** Longest result that a notice carries, in characters: it is read by a model beside others. */
export const MAX_NOTICE_RESULT = 4_000;

/**
 * Whether this turn's end is worth a notice: none after a turn that called no tool and said nothing but what the last
 * notice said, so that thanks for thanks end by themselves (protocol.md section 5, S32). The first change to idle always
 * is, also of one that said nothing: a lead that waits for it would wait for ever.
 * @param lastResult of the last notice; undefined where there was none
 */
export function isWorthNotice(turn: TurnSummary, lastResult: string | undefined): boolean {
  if (lastResult === undefined || turn.toolCalls > 0) return true;
  if (turn.outcome === "failed") return turn.failure !== lastResult;
  return turn.text !== "" && turn.text !== lastResult;
}

/** As a notice names it. */
export function idleReason(outcome: TurnSummary["outcome"]): string {
  return { completed: "available", interrupted: "interrupted", failed: "failed" }[outcome];
}

/** What was done besides, as far as a notice tells it. */
interface WorkDone {
  /** `[to ada] found it`: the newest message to a peer. */
  readonly peerSummary?: string | undefined;
  /** The newest task that was completed. */
  readonly completedTaskId?: string | undefined;
}

/** The fields of `idle_notification` that tell of a turn. `toolCalls` is ours: a lead's model is not woken by plain words. */
export function idleNoticeFields(
  turn: TurnSummary,
  { peerSummary, completedTaskId }: WorkDone = {},
): Record<string, unknown> {
  return {
    idleReason: idleReason(turn.outcome),
    ...(peerSummary === undefined ? {} : { summary: peerSummary }),
    ...(turn.text === "" ? {} : { result: cut(turn.text) }),
    ...(completedTaskId === undefined ? {} : { completedTaskId, completedStatus: "success" }),
    ...(turn.failure === undefined ? {} : { failureReason: cut(turn.failure) }),
    toolCalls: turn.toolCalls,
  };
}

/**
 * What there is to tell at the next change to idle. Several turns may lie before it (messages came while one ran): they
 * are one piece of work and end in one notice.
 */
export class WorkSinceIdle {
  #turn: TurnSummary | undefined;
  #lastResult: string | undefined;
  #done: WorkDone = {};

  /** A message went to a peer: the lead reads its summary in the next notice, not the message. */
  addPeerMessage(peer: string, summary: string): void {
    this.#done = { ...this.#done, peerSummary: `[to ${peer}] ${summary}` };
  }

  addCompletedTask(taskId: string): void {
    this.#done = { ...this.#done, completedTaskId: taskId };
  }

  addTurn(turn: TurnSummary): void {
    const before = this.#turn;
    // What went well behind a failure does not make it good: the lead hears of it all the same.
    const hadFailed = turn.outcome === "completed" && before?.outcome === "failed";
    this.#turn = {
      outcome: hadFailed ? "failed" : turn.outcome,
      toolCalls: turn.toolCalls + (before?.toolCalls ?? 0),
      text: turn.text || (before?.text ?? ""),
      failure: turn.failure ?? before?.failure,
    };
  }

  /** The fields of the notice of all that was added; undefined where it is worth none. */
  takeNotice(): Record<string, unknown> | undefined {
    const turn = this.#turn;
    this.#turn = undefined;
    if (turn === undefined || !isWorthNotice(turn, this.#lastResult)) return undefined;
    this.#lastResult = turn.outcome === "failed" ? turn.failure : turn.text;
    const fields = idleNoticeFields(turn, this.#done);
    this.#done = {};
    return fields;
  }
}

function cut(text: string): string {
  return text.length <= MAX_NOTICE_RESULT ? text : `${text.slice(0, MAX_NOTICE_RESULT)}…`;
}
