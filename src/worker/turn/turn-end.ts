import type { WorkerContext } from "../context.ts";
import type { WorkerGates } from "../gates/gates.ts";
import type { IdleHook } from "../gates/idle-hook.ts";
import type { WorkerEvent } from "../states.ts";
import { idleNoticeFields, idleReason, type TurnSummary } from "./idle-notice.ts";

/** Decides after a turn whether the agent is idle, and notifies the team. */
export class TurnEnd {
  readonly #context: WorkerContext;
  readonly #gates: WorkerGates;
  #text = "";
  #failure: string | undefined;
  #wasInterrupted = false;
  /** Decides whether the agent may be idle. Set when the agent is created. */
  idleHook: IdleHook | undefined;

  constructor(context: WorkerContext, gates: WorkerGates) {
    this.#context = context;
    this.#gates = gates;
  }

  /** The last text of the newest turn that had any; the partial text of an interrupted turn counts only if there is no earlier text. */
  get text(): string {
    return this.#text;
  }

  /** Why the newest turn failed; undefined if it did not. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Whether the newest turn was interrupted. */
  get wasInterrupted(): boolean {
    return this.#wasInterrupted;
  }

  /** @param keys of the turn's messages @param signal ends the idle hooks */
  async settle(result: TurnSummary, keys: readonly string[], signal: AbortSignal): Promise<void> {
    const { status, role, view, notifications, events, queue, workSinceIdle, lifecycle } = this.#context;
    const { planApproval, budget } = this.#gates;
    this.#keep(result);
    if (this.#context.agent.current?.hidesTurnEnds === true) return this.#settleUnseen(result, keys);
    // The next process resumes this turn.
    if (result.outcome === "interrupted" && lifecycle.isProcessEnding) return;
    const { isRunning } = lifecycle;
    // For a lead a turn without text is normal: most notices need no answer.
    if (role === "teammate" && saidNothing(result) && !planApproval.isWaiting) view.note("said nothing");
    // The last model call may have used up a budget.
    await budget.check();
    workSinceIdle.addTurn(result);
    const isDone = (): boolean => isRunning && !planApproval.isWaiting && queue.isEmpty;
    if (isDone() && result.outcome === "completed") {
      const instruction = await this.idleHook?.run(signal);
      if (instruction !== undefined) queue.addInstruction(instruction, this.#context.wake);
    }
    const goesIdle = isDone();
    // Sent before the status changes: a reader that sees the agent idle finds its notice delivered.
    const notice =
      goesIdle && role === "teammate" ? workSinceIdle.takeNotice(status.taskIds.at(-1)) : undefined;
    const isSafe = notice === undefined || (await notifications.notifyIdle(notice, keys));
    // A turn without an end is resumed by the agent's next process, which sends the notice again.
    if (isSafe) await notifications.recordProgress(keys, "done");
    if (!isRunning) return;
    const { backgroundCount } = this.#context.agent;
    const { unsentCount } = notifications;
    // Before the state, so that an agent with background tasks or an undelivered result never looks done.
    status.setBackgroundCount(backgroundCount + unsentCount);
    const inBackground = backgroundCount === 0 ? "" : `${backgroundCount} in the background`;
    status.report(
      this.#eventOfEnd(),
      unsentCount === 0 ? inBackground : "cannot reach the lead; tries again",
    );
    if (!goesIdle) return;
    events.record({ type: "idle", reason: idleReason(result.outcome) });
    if (role === "teammate") view.idle();
    await notifications.setInactive();
  }

  /** Settles a turn whose end is unseen: the program took its input, and nothing more is known. */
  async #settleUnseen(result: TurnSummary, keys: readonly string[]): Promise<void> {
    const { status, notifications, lifecycle } = this.#context;
    if (result.outcome === "interrupted" && lifecycle.isProcessEnding) return;
    if (result.outcome === "failed") await notifications.notifyIdle(idleNoticeFields(result), keys);
    else if (result.outcome === "completed") await notifications.recordProgress(keys, "done");
    if (lifecycle.isRunning) status.report("turn_ended", result.failure ?? "");
  }

  /**
   * Reports an alert of a program whose turn ends are unseen: its turn has ended, or it needs a person. The team is
   * notified once.
   */
  async settleAlert(text: string | undefined): Promise<void> {
    if (text === undefined) return;
    const { status, role, view, notifications, events, lifecycle, queue, workSinceIdle } = this.#context;
    const said = text === "" ? "rang its bell" : text;
    if (!lifecycle.isRunning || status.state === "running") return;
    if (status.state !== "unknown") return status.setActivity(said);
    // The next message starts a turn immediately.
    if (!queue.isEmpty) return;
    workSinceIdle.addTurn({ outcome: "completed", text: said, toolCalls: 0, isNews: true });
    const notice = role === "teammate" ? workSinceIdle.takeNotice(status.taskIds.at(-1)) : undefined;
    if (notice !== undefined) await notifications.notifyIdle(notice, []);
    status.report("alerted", said);
    events.record({ type: "idle", reason: idleReason("completed") });
    view.idle();
    await notifications.setInactive();
  }

  #eventOfEnd(): WorkerEvent {
    if (this.#gates.questions.isOpen) return "turn_ended_asking";
    return this.#wasInterrupted ? "turn_interrupted" : "turn_ended";
  }

  #keep({ outcome, text, failure }: TurnSummary): void {
    this.#wasInterrupted = outcome === "interrupted";
    if (text !== "" && (this.#text === "" || !this.#wasInterrupted)) this.#text = text;
    this.#failure = outcome === "failed" ? (failure ?? "The model call failed.") : undefined;
  }
}

function saidNothing({ outcome, text, toolCalls }: TurnSummary): boolean {
  return outcome === "completed" && text === "" && toolCalls === 0;
}
