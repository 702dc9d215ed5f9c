import { messageOf } from "../../errors.ts";
import { steadyNow, systemClock } from "../../os/clock.ts";
import { isDoneWithin } from "../../os/done-within.ts";
import type { Channel, ChannelTurnEnd } from "../channel.ts";
import type { ChannelAgentOptions } from "../channel-agent-options.ts";
import { limitOf } from "../reported-limit.ts";
import { BUDGET_RAISED, LIMIT_OVER, type OpenTurn } from "./open-turn.ts";

/** Milliseconds until a CLI that continues after its budget is used up is interrupted again. */
const AGAIN_MS = 5_000;
/** Milliseconds that the answer to an interrupt may take: no budget is checked meanwhile. */
const ANSWER_MS = 15_000;

/** A turn that was interrupted because a budget is used up. */
interface StoppedTurn {
  readonly turn: OpenTurn;
  /** When the CLI was interrupted, in milliseconds of the steady clock. */
  readonly at: number;
}

type PauseOptions = Pick<ChannelAgentOptions, "cli" | "note" | "limits" | "beforeTurn" | "exceedsBudget">;

/** The pauses inside a turn, at a limit of the account or at a budget. Meanwhile the CLI has no turn; a message resumes its work. */
export class TurnPauses {
  readonly #options: PauseOptions;
  readonly #channel: () => Pick<Channel, "interrupt" | "deliver"> | undefined;
  /** The turn that waits for the end of a limit, or for more budget. */
  #waiting: OpenTurn | undefined;
  #stopped: StoppedTurn | undefined;
  /** The turn that a message is continuing, unless the turn is interrupted meanwhile. */
  #continued: OpenTurn | undefined;
  #isChecking = false;
  /** The turn that spent something since the last check of the budgets. */
  #unchecked: OpenTurn | undefined;

  constructor(options: PauseOptions, channel: () => Pick<Channel, "interrupt" | "deliver"> | undefined) {
    this.#options = options;
    this.#channel = channel;
  }

  /** Whether this turn waits for the end of a limit, or for more budget. */
  isWaiting(turn: OpenTurn): boolean {
    return this.#waiting === turn;
  }

  /** Makes the end of the turn final: it is interrupted for another reason. */
  cancel(): void {
    this.#stopped = undefined;
    this.#continued = undefined;
  }

  /** Interrupts a turn that has used up a budget. Call it after each report of usage. Never rejects. */
  async spent(turn: OpenTurn): Promise<void> {
    this.#unchecked = turn;
    if (this.#isChecking) return;
    this.#isChecking = true;
    while (this.#unchecked !== undefined) {
      const checked: OpenTurn = this.#unchecked;
      this.#unchecked = undefined;
      if ((await this.#options.exceedsBudget()) && !checked.closed.aborted) await this.#stop(checked);
    }
    this.#isChecking = false;
  }

  /** Takes the end of a turn that continues after a pause. @returns false for any other end */
  takes(end: ChannelTurnEnd, turn: OpenTurn): boolean {
    const limit = limitOf(end, systemClock.now());
    // A person began another turn in its own screen meanwhile.
    if (this.isWaiting(turn)) return limit !== undefined || end.outcome === "interrupted";
    if (limit !== undefined) {
      const { limits } = this.#options;
      void this.#continue(turn, LIMIT_OVER, "limit", () => limits.met(end.failure ?? "", limit));
      return true;
    }
    if (end.outcome !== "interrupted" || this.#stopped?.turn !== turn) return false;
    void this.#continue(turn, BUDGET_RAISED, "budget");
    return true;
  }

  async #stop(turn: OpenTurn): Promise<void> {
    const before = this.#stopped?.turn === turn ? this.#stopped.at : undefined;
    if (before !== undefined && steadyNow() - before < AGAIN_MS) return;
    this.#stopped = { turn, at: steadyNow() };
    const { cli, note } = this.#options;
    note(`${cli} is interrupted${before === undefined ? "" : " again"} because its budget is used up`);
    const interrupted = this.#channel()?.interrupt() ?? Promise.resolve();
    const answered = interrupted.catch((error: unknown) =>
      note(`${cli} continues, although its budget is used up: ${messageOf(error)}`),
    );
    await isDoneWithin(ANSWER_MS, answered, turn.closed);
  }

  /** Waits until the turn may continue, then continues it. A turn that ends meanwhile is not continued. */
  async #continue(turn: OpenTurn, text: string, what: string, before?: () => Promise<void>): Promise<void> {
    const { cli, limits, beforeTurn } = this.#options;
    this.#waiting = turn;
    await before?.();
    const isOver = (await beforeTurn(turn.closed)) === "stop";
    if (!isOver) await limits.wait(turn.closed);
    if (this.#waiting === turn) this.#waiting = undefined;
    if (this.#stopped?.turn === turn) this.#stopped = undefined;
    if (turn.closed.aborted) return;
    if (isOver) return turn.settle({ outcome: "interrupted" });
    this.#continued = turn;
    try {
      await this.#channel()?.deliver(text, false);
    } catch (error) {
      const failure = `${cli} did not continue after its ${what}: ${messageOf(error)}`;
      turn.settle({ outcome: this.#continued === turn ? "failed" : "interrupted", failure });
    }
  }
}
