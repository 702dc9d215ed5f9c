import { addSpent, NOTHING_SPENT, type Spent } from "../../agent/conversation/call-model.ts";
import type { Conversation } from "../../agent/conversation/conversation.ts";
import { INTERRUPTED } from "../../agent/model/messages.ts";
import type { TurnResult } from "../../agent/turn/turn.ts";
import type { ChannelTurnEnd } from "../channel.ts";

/** Resumes a turn that was interrupted by the end of the program. */
export const CONTINUE =
  "[Your program had ended in the middle of this turn, and was started again. Check what is done already, and finish the work.]";

/** Precedes the text of such a turn for a CLI that may not have its conversation any more. */
export const CONTINUE_WITH_TEXT =
  "[Your program had ended in the middle of this turn, and was started again. You may have lost your conversation, so the text of the turn follows. Check what is done already, and finish the work.]";

/** Continues a turn that met a limit of the account. */
export const LIMIT_OVER =
  "[The limit of your account has ended. Check what is done already, and finish the work of this turn.]";

/** Continues a turn that was interrupted because a budget was used up. */
export const BUDGET_RAISED =
  "[Your turn was interrupted because the budget was used up. More budget is available now. Check what is done already, and finish the work of this turn.]";

/** The result of a turn that ended before it began in the CLI. */
export const NEVER_BEGAN: TurnResult = { outcome: "interrupted", text: "", toolCalls: 0, ...NOTHING_SPENT };

/** A turn that is running in a third-party CLI. */
export class OpenTurn {
  /** Resolves at its end; never rejects. */
  readonly result: Promise<TurnResult>;
  readonly #closed = new AbortController();
  readonly #onEnd: (end: ChannelTurnEnd) => void;
  #resolve: (result: TurnResult) => void = () => undefined;
  #isOver = false;
  /** The text since the last tool call. */
  #text = "";
  #toolCalls = 0;
  #spent: Spent = NOTHING_SPENT;

  /** @param onEnd called once, before the result resolves */
  constructor(onEnd: (end: ChannelTurnEnd) => void) {
    this.#onEnd = onEnd;
    this.result = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Aborts when the turn ends: its open requests then have no effect. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  addText(piece: string): void {
    this.#text += piece;
  }

  addToolCall(): void {
    this.#toolCalls += 1;
    this.#text = "";
  }

  addSpent(spent: Spent): void {
    this.#spent = addSpent(this.#spent, spent);
  }

  /** Ends the turn; only the first end counts. */
  settle(end: ChannelTurnEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#closed.abort(new Error("The turn has ended."));
    this.#onEnd(end);
    const { outcome, failure } = end;
    this.#resolve({
      outcome,
      text: (end.text ?? this.#text).trim(),
      toolCalls: this.#toolCalls,
      ...this.#spent,
      ...(failure === undefined ? {} : { failure }),
    });
  }
}

/**
 * Records the end of a turn: a turn without a recorded end is resumed by the next process. Waits until the end is on the disk.
 * @returns the result, whose outcome is `interrupted` if the signal aborts first
 */
export async function recordEnd(
  conversation: Conversation,
  result: TurnResult,
  signal: AbortSignal,
): Promise<TurnResult> {
  addEnd(conversation, result);
  return (await conversation.written(signal)) ? result : { ...result, outcome: "interrupted" };
}

function addEnd(conversation: Conversation, { outcome, text, usage, costUsd, failure }: TurnResult): void {
  const spent = { usage, costUsd };
  if (outcome === "interrupted") {
    conversation.addUserContent([{ type: "text", text: INTERRUPTED }]);
    conversation.addCost(spent);
    return;
  }
  const said = text === "" ? (failure ?? "") : text;
  const unfinished = outcome === "failed" ? ({ unfinished: true } as const) : {};
  conversation.addAnswer(
    { role: "assistant", content: [{ type: "text", text: said }], ...unfinished },
    spent,
    undefined,
  );
}

/**
 * Calls `act` once when a signal aborts, or at once if it has already aborted.
 * @param act returns a function that undoes its effect
 * @returns a function that stops waiting, and undoes the effect
 */
export function onAbort(signal: AbortSignal, act: () => () => void): () => void {
  let undo: () => void = () => undefined;
  const listener = (): void => {
    undo = act();
  };
  signal.addEventListener("abort", listener, { once: true });
  if (signal.aborted) listener();
  return () => {
    signal.removeEventListener("abort", listener);
    undo();
  };
}
