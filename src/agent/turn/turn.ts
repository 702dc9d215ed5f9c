import { sumOf, type TokenCount } from "../../schema/tokens.ts";
import {
  addSpent,
  type ModelAnswer,
  NOTHING_SPENT,
  type Spent,
  streamAnswer,
} from "../conversation/call-model.ts";
import type { ContextWindow } from "../conversation/context-window.ts";
import type { Conversation } from "../conversation/conversation.ts";
import type { AgentEvent } from "../events.ts";
import { INTERRUPTED, messageText, toolUsesOf } from "../model/messages.ts";
import {
  isTruncated,
  type Model,
  type ModelFailure,
  type ModelRequest,
  type StopReason,
  type ToolUseBlock,
} from "../model/model.ts";
import { inputProblem } from "../model/unusable-input.ts";
import type { ToolCallResults } from "./tool-calls.ts";
import { isProcessEnding } from "./turn-abort.ts";

export interface TurnResult {
  readonly outcome: "completed" | "interrupted" | "failed";
  /** The last text of the model in this turn. */
  readonly text: string;
  readonly toolCalls: number;
  /** Tokens of all model calls in this turn. */
  readonly usage: TokenCount;
  /** US dollars; 0 without a known price. */
  readonly costUsd: number;
  /** Why it failed, for people. */
  readonly failure?: string;
  /** Kind of failure, if a call of the model failed. */
  readonly failureKind?: ModelFailure | undefined;
  /** Name of the tool that ended the turn (ExitPlanMode waits for the plan approval). */
  readonly endedBy?: string;
}

/** Progress of a turn before it was resumed. */
export type TurnProgress = Pick<TurnResult, "text" | "toolCalls">;

/** The parts that a turn needs. Its input is already in the conversation. */
interface TurnParts {
  readonly model: Model;
  readonly conversation: Conversation;
  readonly window: ContextWindow;
  readonly signal: AbortSignal;
  readonly emit: (event: AgentEvent) => void;
  /** Returns the next request to the model as of now. */
  readonly request: () => ModelRequest;
  /** Runs calls and adds their results to the conversation. @param isTruncated the answer with the calls is incomplete */
  readonly runTools: (uses: readonly ToolUseBlock[], isTruncated: boolean) => Promise<ToolCallResults>;
  readonly beforeCall: ((signal: AbortSignal) => Promise<"go" | "stop">) | undefined;
}

type TurnEnd = Pick<TurnResult, "outcome" | "failure" | "failureKind" | "endedBy">;

/** Maximum model calls in one turn: far above real work, but low enough to limit the cost. */
const MAX_ROUNDS = 500;
/** How many times in a row a model may continue an answer that reached its maximum length, or make its calls again. */
const MAX_CONTINUATIONS = 3;
/** Maximum compactions in a row after the server rejects the conversation as too long. The estimate was wrong each time. */
const MAX_COMPACTIONS = 3;
const TOO_MANY: TurnEnd = {
  outcome: "failed",
  failure: `The turn was stopped after ${MAX_ROUNDS} calls of the model.`,
};
const TOO_LONG = `The answer reached the model's maximum length ${MAX_CONTINUATIONS + 1} times in a row.`;
const REFUSED = "The model refused to answer.";
const CONTINUE_ANSWER = "Your answer was cut off at its maximum length. Continue exactly where it ended.";

/**
 * Runs a turn to its end: calls the model and runs its tool calls until it makes no more calls, is interrupted or fails. Waits
 * while the conversation cannot be written (a full disk). Rejects only if the conversation's directory is gone.
 */
export async function runTurn(progress: TurnProgress, parts: TurnParts): Promise<TurnResult> {
  const result = await new Turn(progress, parts).run();
  const { outcome, failure, failureKind } = result;
  parts.emit({
    type: "turn_ended",
    outcome,
    ...(failure === undefined ? {} : { failure }),
    ...(failureKind === undefined ? {} : { failureKind }),
  });
  return result;
}

class Turn {
  readonly #parts: TurnParts;
  #text: string;
  #toolCalls: number;
  #spent: Spent = NOTHING_SPENT;
  /** How many answers in a row were truncated and had no complete call. */
  #truncatedInARow = 0;
  /** Whether the next answer continues a truncated one. */
  #continuesAnswer = false;
  /** How many times in a row the server rejected the conversation as too long. */
  #tooLongInARow = 0;

  constructor({ text, toolCalls }: TurnProgress, parts: TurnParts) {
    this.#parts = parts;
    this.#text = text;
    this.#toolCalls = toolCalls;
  }

  async run(): Promise<TurnResult> {
    let ending: TurnEnd | undefined;
    for (let round = 0; round < MAX_ROUNDS && ending === undefined; round += 1) {
      ending = await this.#round();
    }
    // A turn whose end is not on the disk is not over: the next process resumes it.
    if (!(await this.#isWritten())) ending = { outcome: "interrupted" };
    return { text: this.#text, toolCalls: this.#toolCalls, ...this.#spent, ...(ending ?? TOO_MANY) };
  }

  /** Calls the model once and runs its tool calls. Returns how the turn ended; undefined if it continues. */
  async #round(): Promise<TurnEnd | undefined> {
    const { signal, window, beforeCall, runTools } = this.#parts;
    if (!(await this.#isWritten())) return { outcome: "interrupted" };
    if ((await beforeCall?.(signal)) === "stop") return { outcome: "interrupted" };
    const failedToCompact = window.isNearlyFull ? await this.#compact() : undefined;
    if (failedToCompact !== undefined) return failedToCompact;
    const answer = await this.#callModel();
    this.#addText(answer.message === undefined ? "" : messageText(answer.message));
    if (answer.outcome !== "answered") {
      return answer.outcome === "interrupted" ? this.#interrupted() : this.#failed(answer);
    }
    this.#tooLongInARow = 0;
    // Tool calls that were begun before the refusal are dropped.
    if (answer.stopReason === "refusal") return { outcome: "failed", failure: REFUSED };
    const uses = toolUsesOf(answer.message);
    this.#recordTruncation(answer.stopReason, uses);
    if (uses.length === 0) return this.#withoutTools(answer.stopReason);
    // After an interrupt, none of the calls runs.
    await this.#isWritten();
    const ran = await runTools(uses, isTruncated(answer.stopReason));
    this.#toolCalls += ran.calls;
    if (signal.aborted || ran.stopped) return { outcome: "interrupted" };
    if (ran.endedBy !== undefined) return { outcome: "completed", endedBy: ran.endedBy };
    return this.#tooLongAnswers();
  }

  /** Waits until the conversation is on the disk: the agent must not act earlier. @returns false if the turn was interrupted first */
  #isWritten(): Promise<boolean> {
    const { conversation, signal } = this.#parts;
    return conversation.written(signal);
  }

  /** Appends the continuation of a truncated answer to the last text. Any other text replaces the last one. */
  #addText(text: string): void {
    this.#text = this.#continuesAnswer ? this.#text + text : text || this.#text;
    this.#continuesAnswer = false;
  }

  async #callModel(): Promise<ModelAnswer> {
    const { model, conversation, request, signal, emit } = this.#parts;
    const answer = await streamAnswer(model, request(), signal, emit);
    const { message, spent } = answer;
    const isAnswer = answer.outcome === "answered";
    if (message === undefined || (!isAnswer && isProcessEnding(signal))) {
      conversation.addCost(spent);
    } else {
      const refused = isAnswer && answer.stopReason === "refusal";
      const size = isAnswer ? answer.size : undefined;
      conversation.addAnswer(refused ? { ...message, refused } : message, spent, size);
      emit({ type: "message", message });
    }
    this.#count(spent);
    return answer;
  }

  #interrupted(): TurnEnd {
    if (!isProcessEnding(this.#parts.signal)) this.#note(INTERRUPTED);
    return { outcome: "interrupted" };
  }

  /** Compacts a conversation that the server rejected as too long, regardless of our estimate. Any other failure ends the turn. */
  async #failed({
    kind,
    limit,
    failure,
  }: Exclude<ModelAnswer, { outcome: "answered" }>): Promise<TurnEnd | undefined> {
    if (kind !== "too_long" || this.#tooLongInARow === MAX_COMPACTIONS)
      return { outcome: "failed", failure, failureKind: kind };
    this.#tooLongInARow += 1;
    this.#parts.window.recordTooLong(limit);
    return this.#compact();
  }

  async #withoutTools(stopReason: StopReason): Promise<TurnEnd | undefined> {
    // The server continues a paused answer when it gets the same conversation again.
    if (stopReason === "pause_turn") return undefined;
    if (!isTruncated(stopReason)) return { outcome: "completed" };
    const failed =
      this.#tooLongAnswers() ?? (stopReason === "window_exceeded" ? await this.#compact() : undefined);
    if (failed !== undefined) return failed;
    this.#continuesAnswer = true;
    this.#note(CONTINUE_ANSWER);
    return undefined;
  }

  /** Counts truncated answers in a row, and records that the window was full. */
  #recordTruncation(stopReason: StopReason, uses: readonly ToolUseBlock[]): void {
    const isPart = isTruncated(stopReason) && uses.every(({ input }) => inputProblem(input) !== undefined);
    this.#truncatedInARow = isPart ? this.#truncatedInARow + 1 : 0;
    if (stopReason === "window_exceeded") this.#parts.window.recordFull();
  }

  /** @returns the end of the turn after too many truncated answers in a row */
  #tooLongAnswers(): TurnEnd | undefined {
    return this.#truncatedInARow > MAX_CONTINUATIONS ? { outcome: "failed", failure: TOO_LONG } : undefined;
  }

  async #compact(): Promise<TurnEnd | undefined> {
    const { conversation, window, signal } = this.#parts;
    const failed = await window.compact(signal, (spent) => {
      conversation.addCost(spent);
      this.#count(spent);
    });
    return failed?.outcome === "interrupted" ? this.#interrupted() : failed;
  }

  #count(spent: Spent): void {
    if (sumOf(spent.usage) === 0) return;
    this.#spent = addSpent(this.#spent, spent);
    this.#parts.emit({ type: "spent", ...spent });
  }

  #note(text: string): void {
    this.#parts.conversation.addUserContent([{ type: "text", text }]);
  }
}
