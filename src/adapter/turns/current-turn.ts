import type { ChannelTurnEnd } from "../channel.ts";
import type { OpenTurn } from "./open-turn.ts";

/** The turn that a CLI is running, and the turn whose text it has not received yet. */
export class CurrentTurn {
  /** The turn whose text waits for a budget or a limit. Meanwhile a person can begin another turn. */
  waiting: OpenTurn | undefined;
  #open: OpenTurn | undefined;

  /** The turn to which the events of the CLI belong. */
  get open(): OpenTurn | undefined {
    return this.#open;
  }

  /** Whether the CLI runs no turn while the text of this one waits. */
  isIdle(turn: OpenTurn): boolean {
    return this.waiting === turn && this.#open === undefined;
  }

  /** Gives a turn the events of the CLI. @returns a function that returns them to a person's turn, if the CLI refuses the text */
  begin(turn: OpenTurn): () => void {
    const before = this.#open;
    if (this.waiting === turn) this.waiting = undefined;
    this.#open = turn;
    // The CLI adds our text to a person's turn, which ends with ours.
    let isShared = true;
    void turn.result.then((result) => isShared && before?.settle(result));
    return () => {
      if (turn.closed.aborted) return;
      isShared = false;
      this.#open = before;
    };
  }

  ended(turn: OpenTurn): void {
    if (this.#open === turn) this.#open = undefined;
  }

  /** Ends both turns, because the CLI has ended. */
  settle(end: ChannelTurnEnd): void {
    for (const turn of [this.#open, this.waiting]) turn?.settle(end);
  }
}
