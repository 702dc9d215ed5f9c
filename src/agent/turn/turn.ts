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
import { INTERRUPTED, textOf, toolUsesOf } from "../model/messages.ts";
import type { Model, ModelRequest, StopReason, ToolUseBlock } from "../model/model.ts";
import type { ToolCallResults } from "./tool-calls.ts";
import { isProcessEnding } from "./turn-abort.ts";

export interface TurnResult {
  readonly outcome: "completed" | "interrupted" | "failed";
  /** The last text of the model in this turn. */
  readonly text: string;
  readonly toolCalls: number;
  /** Of this turn, every call of the model in it. */
  readonly usage: TokenCount;
  /** US dollars; 0 where no price is known. */
  readonly costUsd: number;
  /** Why it failed, for people. */
  readonly failure?: string;
  /** The tool that ended the turn (ExitPlanMode waits for its verdict). */
  readonly endedBy?: string;
}

/** What of a turn is there already when it is taken up. */
export type TurnProgress = Pick<TurnResult, "text" | "toolCalls">;

/** What a turn runs on; its input stands in the conversation. */
interface TurnParts {
  readonly model: Model;
  readonly conversation: Conversation;
  readonly window: ContextWindow;
  readonly signal: AbortSignal;
  readonly emit: (event: AgentEvent) => void;
  /** The next call of the model as it would be made now. */
  readonly request: () => ModelRequest;
  /** Runs calls and puts their results into the conversation. @param stopReason why the answer ended that made them */
  readonly runTools: (uses: readonly ToolUseBlock[], stopReason: StopReason) => Promise<ToolCallResults>;
  readonly beforeCall: ((signal: AbortSignal) => Promise<"go" | "stop">) | undefined;
}

type TurnEnd = Pick<TurnResult, "outcome" | "failure" | "endedBy">;

/** Model calls in one turn, after which it is stopped: far above honest work, below a bill that surprises. */
const MAX_ROUNDS = 500;
/** Times that a model whose answer was cut at its length is told to go on. */
const MAX_CONTINUATIONS = 3;
/** Times in a row that a conversation which the server found too long is compacted: the guess of its length was wrong each time. */
const MAX_COMPACTIONS = 3;
const TOO_MANY: TurnEnd = {
  outcome: "failed",
  failure: `The turn was stopped after ${MAX_ROUNDS} calls of the model.`,
};
const TOO_LONG = `The answer reached the model's maximum length ${MAX_CONTINUATIONS + 1} times.`;
const REFUSED = "The model refused to answer.";
const CONTINUE_ANSWER = "Your answer was cut off at its maximum length. Continue exactly where it ended.";

/**
 * Runs a turn to its end: the model is called and the tools that it asks for are run, until it has nothing more to ask, is
 * interrupted or fails. Rejects only when the conversation cannot be written.
 */
export async function runTurn(begun: TurnProgress, parts: TurnParts): Promise<TurnResult> {
  const result = await new Turn(begun, parts).run();
  const { outcome, failure } = result;
  parts.emit({ type: "turn_ended", outcome, ...(failure === undefined ? {} : { failure }) });
  return result;
}

class Turn {
  readonly #parts: TurnParts;
  #text: string;
  #toolCalls: number;
  #spent: Spent = NOTHING_SPENT;
  /** Times that it was told to go on with an answer that was cut. */
  #continuations = 0;
  /** Whether the next answer begins where the one before was cut. */
  #goesOn = false;
  /** Times in a row that the server found the conversation too long. */
  #refusedAsLong = 0;

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
    return { text: this.#text, toolCalls: this.#toolCalls, ...this.#spent, ...(ending ?? TOO_MANY) };
  }

  /** One call of the model and the tools that it asks for; says how the turn ended, if it did. */
  async #round(): Promise<TurnEnd | undefined> {
    const { signal, window, beforeCall, runTools } = this.#parts;
    if ((await beforeCall?.(signal)) === "stop") return { outcome: "interrupted" };
    const noRoom = window.isNearlyFull ? await this.#compact() : undefined;
    if (noRoom !== undefined) return noRoom;
    const answer = await this.#callModel();
    this.#say(answer.message === undefined ? "" : textOf(answer.message));
    if (answer.outcome !== "answered") {
      return answer.outcome === "interrupted" ? this.#interrupted() : this.#failed(answer);
    }
    this.#refusedAsLong = 0;
    // What it had begun to call before it refused is not called.
    if (answer.stopReason === "refusal") return { outcome: "failed", failure: REFUSED };
    const uses = toolUsesOf(answer.message);
    if (uses.length === 0) return this.#withoutTools(answer.stopReason);
    const ran = await runTools(uses, answer.stopReason);
    this.#toolCalls += ran.calls;
    if (signal.aborted || ran.stopped) return { outcome: "interrupted" };
    return ran.endedBy === undefined ? undefined : { outcome: "completed", endedBy: ran.endedBy };
  }

  /** What goes on with an answer that was cut is one text with it; any other stands in place of what was said before. */
  #say(text: string): void {
    this.#text = this.#goesOn ? this.#text + text : text || this.#text;
    this.#goesOn = false;
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

  /** A conversation that the server finds too long is compacted, whatever was thought of its length. */
  async #failed({
    kind,
    limit,
    failure,
  }: Exclude<ModelAnswer, { outcome: "answered" }>): Promise<TurnEnd | undefined> {
    if (kind !== "too_long" || this.#refusedAsLong === MAX_COMPACTIONS) return { outcome: "failed", failure };
    this.#refusedAsLong += 1;
    this.#parts.window.wasTooLong(limit);
    return this.#compact();
  }

  async #withoutTools(stopReason: StopReason): Promise<TurnEnd | undefined> {
    // The server goes on where it paused once it has the same conversation again.
    if (stopReason === "pause_turn") return undefined;
    if (stopReason !== "max_tokens" && stopReason !== "window_exceeded") return { outcome: "completed" };
    if (this.#continuations === MAX_CONTINUATIONS) return { outcome: "failed", failure: TOO_LONG };
    this.#continuations += 1;
    if (stopReason === "window_exceeded") {
      this.#parts.window.wasFull();
      const noRoom = await this.#compact();
      if (noRoom !== undefined) return noRoom;
    }
    this.#goesOn = true;
    this.#note(CONTINUE_ANSWER);
    return undefined;
  }

  async #compact(): Promise<TurnEnd | undefined> {
    const { conversation, window, signal } = this.#parts;
    const noRoom = await window.compact(signal, (spent) => {
      conversation.addCost(spent);
      this.#count(spent);
    });
    return noRoom?.outcome === "interrupted" ? this.#interrupted() : noRoom;
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
