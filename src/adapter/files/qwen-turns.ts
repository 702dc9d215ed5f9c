import { after } from "../../os/clock.ts";
import { cutText } from "../../text/characters/cut-text.ts";
import type { ChannelEvents, ChannelTurnEnd } from "../channel.ts";
import { failureIn, isSubmission } from "../gemini-texts.ts";
import { requestOf } from "../gemini-tools.ts";
import { cleaned } from "../last-words.ts";
import { fieldsOf } from "../requests.ts";
import { spentOf } from "./qwen-texts.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Longest result of a tool that the log gets, in characters. */
const MAX_RESULT = 20_000;
/** Milliseconds in which Qwen continues a turn after its last call, if it does. */
const CONTINUE_MS = 3_000;

interface Call {
  /** Undefined: it has no result yet. */
  result: "done" | "cancelled" | undefined;
  /** Why our rules refused it. */
  refusal: string | undefined;
}

interface Taking {
  readonly text: string;
  /** Qwen does not drop it if it comes during a turn. */
  readonly isQueued: boolean;
  resolve(): void;
  reject(error: Error): void;
}

interface TurnsOptions {
  readonly cwd: string;
  readonly events: ChannelEvents;
  /** Sends what the model must know about calls that were refused: Qwen itself ends a turn whose calls are all cancelled. */
  readonly resume: (refusals: readonly string[]) => void;
  /** A turn is over, or a call needs no answer any more. */
  readonly closed: (callId: string | undefined) => void;
}

/**
 * The turns of Qwen, as its events report them. They name no end: a turn ends with an answer of the model without calls, or with
 * the cancellation of all calls of an answer.
 */
export class QwenTurns {
  readonly #options: TurnsOptions;
  readonly #calls = new Map<string, Call>();
  #taking: Taking | undefined;
  #isRunning = false;
  #isInterrupted = false;
  #isLeft = false;
  /** The answer that is being received. */
  #answer = { text: "", tokens: 0 };
  /** Whether the model's server reports tokens: without them, an answer was interrupted. */
  #reportsTokens = false;
  #stopWaiting: () => void = () => undefined;
  #waiting: (() => void)[] = [];

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#isRunning || this.#taking !== undefined;
  }

  /** Resolves once Qwen is in no turn: it would add a text to its turn, and not report that. */
  get whenIdle(): Promise<void> {
    if (!this.#isRunning) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Whether Qwen has the current turn, and did not only get its text. */
  get isTaken(): boolean {
    return this.#taking === undefined;
  }

  /** Whether calls of the newest answer have no result yet. */
  get hasOpenCalls(): boolean {
    return [...this.#calls.values()].some(({ result }) => result === undefined);
  }

  /**
   * Expects the turn of a text.
   * @param isQueued Qwen does not drop a text that comes during a turn
   * @returns a promise that resolves once Qwen has taken it, and rejects if Qwen ends first
   */
  expect(text: string, isQueued: boolean): Promise<void> {
    this.#taking?.reject(new Error("another text came"));
    this.#isInterrupted = false;
    return new Promise((resolve, reject) => {
      this.#taking = { text, isQueued, resolve, reject };
    });
  }

  /** The end of the current turn is not reported: an interrupt did not end it, or a person began it. */
  leaveBehind(): void {
    this.#isLeft = this.#isRunning;
  }

  interrupted(): void {
    this.#isInterrupted = true;
  }

  /** Gives up a text that Qwen has not taken. A queued text gets its own turn later. */
  forget(): void {
    const taking = this.#taking;
    this.#taking = undefined;
    if (taking?.isQueued) taking.resolve();
    else taking?.reject(new Error("it was interrupted before it took the text"));
  }

  /** Qwen is gone. */
  fail(error: Error): void {
    this.#stopWaiting();
    this.#taking?.reject(error);
    this.#taking = undefined;
  }

  /** A rule, a person or the end of its turn refused a call. */
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
    // Only the record, which may be missing, names calls that a person has cancelled.
    if (this.#isRunning && this.hasOpenCalls) this.#end({ outcome: "interrupted" });
    this.#onOwnTurn();
  }

  /** A person began a turn. If Qwen is in one, it adds the text to it. */
  #onOwnTurn(): void {
    if (this.#isRunning) return;
    this.#begin();
    this.#options.events.turnStarted();
  }

  #begin(): void {
    this.#isRunning = true;
    this.#isInterrupted = false;
    this.#isLeft = false;
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

  /** A part of an answer is whole. */
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
    this.#options.events.toolEnded({ id: callId, content: cutText(content, MAX_RESULT), isError });
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
    if (this.#isInterrupted || refusals.length < calls.length) this.#end({ outcome: "interrupted" });
    else this.#options.resume(refusals);
  }

  #end(end: ChannelTurnEnd): void {
    this.#stopWaiting();
    this.#isRunning = false;
    this.#calls.clear();
    this.#options.closed(undefined);
    for (const resolve of this.#waiting.splice(0)) resolve();
    const taking = this.#taking;
    if (taking !== undefined) {
      // The turn of a person. Qwen now begins ours, or has added our text to that one.
      this.#stopWaiting = after(CONTINUE_MS, () => this.#onAdded(taking));
      return;
    }
    if (!this.#isLeft) this.#options.events.turnEnded(this.#isInterrupted ? { outcome: "interrupted" } : end);
  }
}
