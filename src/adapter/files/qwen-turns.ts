import { messageOf } from "../../errors.ts";
import { after } from "../../os/clock.ts";
import type { ChannelEvents, ChannelTurnEnd } from "../channel.ts";
import { failureIn, isSubmission } from "../gemini-texts.ts";
import { requestOf } from "../gemini-tools.ts";
import { cleaned, type Fields, fieldsOf } from "../reported-values.ts";
import { spentOf } from "./qwen-texts.ts";

/** Maximum milliseconds until Qwen continues a turn after its last call, or starts the next turn. */
const CONTINUE_MS = 3_000;

interface Call {
  /** Undefined while it has no result. */
  result: "done" | "cancelled" | undefined;
  /** Why it was refused; undefined if it was not. */
  refusal: string | undefined;
}

interface Taking {
  readonly text: string;
  /** Qwen queues it if it arrives during a turn, and does not drop it. */
  readonly isQueued: boolean;
  resolve(): void;
  reject(error: Error): void;
}

/** The events that turns report. */
type TurnEvents = Pick<
  ChannelEvents,
  "turnStarted" | "turnEnded" | "text" | "toolStarted" | "toolEnded" | "spent"
>;

interface TurnsOptions {
  readonly cwd: string;
  readonly events: TurnEvents;
  /** Sends the reasons for refused calls to the model: Qwen ends a turn whose calls are all cancelled. @throws a system error */
  readonly resume: (refusals: readonly string[]) => void;
  /** Called when a call needs no answer any more, or, with undefined, when a turn has ended. */
  readonly closed: (callId: string | undefined) => void;
}

/**
 * The turns of Qwen, as its events report them. No event reports the end of a turn: a turn ends with an answer of the model without
 * calls, or when all calls of an answer are cancelled.
 */
export class QwenTurns {
  readonly #options: TurnsOptions;
  readonly #calls = new Map<string, Call>();
  #taking: Taking | undefined;
  #isRunning = false;
  #isInterrupted = false;
  #isAbandoned = false;
  /** The answer that is being received. */
  #answer = { text: "", tokens: 0 };
  /** Whether the model's server reports tokens. If it does, an answer without tokens was interrupted. */
  #reportsTokens = false;
  #stopWaiting: () => void = () => undefined;
  #waiting: (() => void)[] = [];

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#isRunning || this.#taking !== undefined;
  }

  /** Resolves once Qwen has no turn: it would add a text to a running turn without reporting it. */
  get whenIdle(): Promise<void> {
    if (!this.#isRunning) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Whether Qwen has begun the turn of the newest text. */
  get isTaken(): boolean {
    return this.#taking === undefined;
  }

  /** Whether calls of the newest answer have no result yet. */
  get hasOpenCalls(): boolean {
    return [...this.#calls.values()].some(({ result }) => result === undefined);
  }

  /**
   * Waits for the turn of a text.
   * @param isQueued whether Qwen queues a text that arrives during a turn, and does not drop it
   * @returns a promise that resolves once Qwen has taken the text, and rejects if Qwen ends first
   */
  expect(text: string, isQueued: boolean): Promise<void> {
    this.#taking?.reject(new Error("a newer message replaced it"));
    this.#isInterrupted = false;
    return new Promise((resolve, reject) => {
      this.#taking = { text, isQueued, resolve, reject };
    });
  }

  /** Stops reporting the current turn, which an interrupt did not end, or which a person began. */
  abandon(): void {
    this.#isAbandoned = this.#isRunning;
  }

  interrupted(): void {
    this.#isInterrupted = true;
  }

  /** Stops waiting for a text that Qwen has not taken. A queued text gets its own turn later. */
  forget(): void {
    const taking = this.#taking;
    this.#taking = undefined;
    if (taking?.isQueued) taking.resolve();
    else taking?.reject(new Error("it was interrupted before it took the text"));
  }

  /** Rejects the text that Qwen has not taken, because Qwen has ended. */
  fail(error: Error): void {
    this.#stopWaiting();
    this.#taking?.reject(error);
    this.#taking = undefined;
  }

  /** Records why a rule, a person or the end of its turn refused a call. */
  refused(callId: string, why: string): void {
    const call = this.#calls.get(callId);
    if (call !== undefined) call.refusal = why;
  }

  cancelled(callId: string): void {
    if (this.#calls.get(callId)?.result !== undefined) return;
    this.#onResult(callId, "cancelled", "cancelled", true);
  }

  event(event: Fields): void {
    // An event of a subagent names the call that started the subagent.
    if ((event.parent_tool_use_id ?? undefined) !== undefined) return;
    if (event.type === "user") this.#onUser(fieldsOf(event.message));
    else if (event.type === "assistant") this.#onAnswer(fieldsOf(event.message));
    else if (event.type === "stream_event") this.#onStream(fieldsOf(event.event));
  }

  #onUser({ content }: Fields): void {
    const parts = Array.isArray(content) ? content.map(fieldsOf) : [];
    for (const { type, tool_use_id, content: result, is_error } of parts)
      if (type === "tool_result" && typeof tool_use_id === "string")
        this.#onResult(tool_use_id, "done", typeof result === "string" ? result : "", is_error === true);
    const text = parts.flatMap((part) => (typeof part.text === "string" ? [part.text] : [])).join("\n");
    if (text !== "") this.#onText(text);
  }

  #onText(text: string): void {
    const taking = this.#taking;
    if (taking !== undefined && isSubmission(text, taking.text)) {
      this.#taking = undefined;
      if (!this.#isRunning) this.#begin();
      this.#calls.clear();
      taking.resolve();
      return;
    }
    // A person has cancelled these calls: only the record, which may be missing, reports that.
    if (this.#isRunning && this.hasOpenCalls) this.#end({ outcome: "interrupted" });
    this.#onOwnTurn();
  }

  /** Reports a turn that a person began. During a turn, Qwen adds the person's text to that turn. */
  #onOwnTurn(): void {
    if (this.#isRunning) return;
    this.#begin();
    this.#options.events.turnStarted();
  }

  #begin(): void {
    this.#isRunning = true;
    this.#isInterrupted = false;
    this.#isAbandoned = false;
    this.#calls.clear();
  }

  #onStream({ type, delta }: Fields): void {
    if (type === "message_start") {
      this.#onOwnTurn();
      this.#stopWaiting();
      this.#calls.clear();
      this.#answer = { text: "", tokens: 0 };
    } else if (type === "content_block_delta") {
      const { type: kind, text } = fieldsOf(delta);
      if (!this.#isRunning || kind !== "text_delta" || typeof text !== "string") return;
      this.#answer.text += text;
      this.#options.events.text(text);
    } else if (type === "message_stop" && this.#isRunning && this.#calls.size === 0) this.#onLastAnswer();
  }

  /** Handles a complete part of an answer. */
  #onAnswer({ content, usage }: Fields): void {
    if (!this.#isRunning) return;
    for (const { type, id, name, input } of Array.isArray(content) ? content.map(fieldsOf) : []) {
      if (type !== "tool_use" || typeof id !== "string" || typeof name !== "string") continue;
      this.#calls.set(id, { result: undefined, refusal: undefined });
      const { tool, summary } = requestOf({ tool: name, input: fieldsOf(input) }, this.#options.cwd);
      this.#options.events.toolStarted({ id, tool, summary });
    }
    const spent = spentOf(usage);
    if (spent === undefined) return;
    this.#reportsTokens = true;
    this.#answer.tokens += spent.usage.output;
    this.#options.events.spent(spent);
  }

  #onAdded(taking: Taking): void {
    if (this.#taking !== taking || this.#isRunning || !taking.isQueued) return;
    this.#taking = undefined;
    taking.resolve();
    this.#options.events.turnEnded({ outcome: "completed" });
  }

  #onLastAnswer(): void {
    const { text, tokens } = this.#answer;
    const failure = tokens === 0 ? failureIn(text) : undefined;
    if (failure !== undefined) this.#end({ outcome: "failed", failure: cleaned(failure) });
    else this.#end({ outcome: tokens === 0 && this.#reportsTokens ? "interrupted" : "completed" });
  }

  #onResult(callId: string, result: "done" | "cancelled", content: string, isError: boolean): void {
    const call = this.#calls.get(callId);
    if (call === undefined) return;
    call.result = result;
    this.#options.events.toolEnded({ id: callId, content, isError });
    this.#options.closed(callId);
    if (this.hasOpenCalls || !this.#isRunning) return;
    const calls = [...this.#calls.values()];
    if (calls.every((one) => one.result === "cancelled")) this.#onAllCancelled(calls);
    else if (calls.some((one) => one.result === "cancelled")) {
      this.#stopWaiting();
      this.#stopWaiting = after(CONTINUE_MS, () => this.#end({ outcome: "interrupted" }));
    }
  }

  #onAllCancelled(calls: readonly Call[]): void {
    const refusals = calls.flatMap(({ refusal }) => (refusal === undefined ? [] : [refusal]));
    if (this.#isInterrupted || refusals.length < calls.length) {
      this.#end({ outcome: "interrupted" });
      return;
    }
    try {
      this.#options.resume(refusals);
    } catch (error) {
      const failure = `the reasons for refusals did not reach its model: ${messageOf(error)}`;
      this.#end({ outcome: "failed", failure });
    }
  }

  #end(end: ChannelTurnEnd): void {
    this.#stopWaiting();
    this.#isRunning = false;
    this.#calls.clear();
    this.#options.closed(undefined);
    for (const resolve of this.#waiting.splice(0)) resolve();
    const taking = this.#taking;
    if (taking !== undefined) {
      // A person's turn has ended. Qwen now begins ours, or has added our text to the person's turn.
      this.#stopWaiting = after(CONTINUE_MS, () => this.#onAdded(taking));
      return;
    }
    if (!this.#isAbandoned)
      this.#options.events.turnEnded(this.#isInterrupted ? { outcome: "interrupted" } : end);
  }
}
