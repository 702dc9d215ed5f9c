import { after } from "../../os/clock.ts";
import type { ChannelEvents, ChannelTurnEnd } from "../channel.ts";
import { isSubmission } from "../gemini-texts.ts";

/** Milliseconds that the hook at a turn's end waits for the next message. A message within this time need not be typed. */
const HOLD_MS = 500;
/** Maximum turns that hooks continue in a row: Gemini silently stops after 100. */
const MAX_CHAIN = 50;

interface PendingText {
  readonly text: string;
  resolve(): void;
  reject(error: Error): void;
}

/** `resting`: the hook at a turn's end waits for a text. `handed`: the hook has passed on a text whose turn has not begun. */
type State = "idle" | "running" | "resting" | "handed";

interface TurnsOptions {
  readonly events: Pick<ChannelEvents, "turnStarted" | "turnEnded" | "text">;
  /** Called when a turn ends: its requests need no answer. */
  readonly closed: () => void;
}

/** The turns of Gemini, as its hooks and its record report them. */
export class GeminiTurns {
  readonly #options: TurnsOptions;
  #state: State = "idle";
  #pending: PendingText | undefined;
  #answerHook: ((text: string | undefined) => void) | undefined;
  #chain = 0;
  #isInterrupted = false;
  #isSuperseded = false;
  #hasSaid = false;
  #failure: string | undefined;
  #waiting: (() => void)[] = [];

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#state === "running" || this.#state === "handed";
  }

  /** Whether Gemini waits for input. */
  get isIdle(): boolean {
    return this.#state === "idle";
  }

  /** Whether Gemini's model can call tools now. */
  get isWorking(): boolean {
    return this.#state === "running";
  }

  /** Whether Gemini has begun the turn of the newest text. */
  get isTaken(): boolean {
    return this.#pending === undefined;
  }

  /** Resolves once Gemini waits for input. */
  get whenIdle(): Promise<void> {
    if (this.#state === "idle") return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /**
   * Waits for the turn of a text. If another turn is running, the hook at its end passes the text on.
   * @returns a promise that resolves once Gemini has begun the turn, and rejects if the text is withdrawn
   */
  expect(text: string): Promise<void> {
    this.#pending?.reject(new Error("a newer message replaced it"));
    this.#isInterrupted = false;
    this.#isSuperseded = this.isRunning;
    const taken = new Promise<void>((resolve, reject) => {
      this.#pending = { text, resolve, reject };
    });
    this.#passPending();
    return taken;
  }

  interrupted(): void {
    this.#isInterrupted = true;
  }

  /** Withdraws a text that Gemini has not taken. */
  withdraw(error: Error): void {
    this.#pending?.reject(error);
    this.#pending = undefined;
    this.#answerHook?.(undefined);
  }

  /** Handles the start of a turn. */
  began(prompt: string): void {
    const wasRunning = this.#state === "running";
    this.#state = "running";
    this.#hasSaid = false;
    this.#failure = undefined;
    const pending = this.#pending;
    if (pending !== undefined && isSubmission(prompt, pending.text)) {
      this.#pending = undefined;
      this.#isSuperseded = false;
      pending.resolve();
    } else if (pending !== undefined) {
      // A person's turn came first: its end is not the end of the awaited turn.
      this.#isSuperseded = true;
    } else if (!wasRunning) {
      this.#isInterrupted = false;
      this.#options.events.turnStarted();
    }
  }

  said(text: string): void {
    this.#hasSaid = true;
    this.#options.events.text(text);
  }

  turnFailed(why: string): void {
    this.#failure = why;
  }

  get hasTurnFailed(): boolean {
    return this.#failure !== undefined;
  }

  /**
   * Handles the end of a turn, as Gemini's hook reports it.
   * @param text the whole answer
   * @param hookEnded aborts when the hook has ended: it can then pass on no text
   * @returns the text of the next turn; undefined if there is none
   */
  onTurnEnd(text: string, hookEnded: AbortSignal): Promise<string | undefined> {
    if (this.#state !== "running") return Promise.resolve(undefined);
    this.#state = "resting";
    const next = new Promise<string | undefined>((resolve) => {
      const answer = (given: string | undefined): void => {
        if (this.#answerHook !== answer) return;
        stop();
        this.#answerHook = undefined;
        this.#chain = given === undefined ? 0 : this.#chain + 1;
        if (given === undefined) this.#becomeIdle();
        else this.#state = "handed";
        resolve(given);
      };
      const stop = after(HOLD_MS, () => answer(undefined));
      this.#answerHook = answer;
      if (hookEnded.aborted) answer(undefined);
      else hookEnded.addEventListener("abort", () => answer(undefined), { once: true });
    });
    const failure = this.#failure;
    this.#end(
      failure === undefined
        ? { outcome: "completed", ...(!this.#hasSaid && { text }) }
        : { outcome: "failed", failure },
    );
    this.#passPending();
    return next;
  }

  /** Handles a turn that a person or an interrupt has cancelled: no hook reports that. */
  cancelled(): void {
    if (this.#state === "idle") return;
    const hadTurn = this.#state === "running";
    this.#answerHook?.(undefined);
    this.#becomeIdle();
    if (hadTurn) this.#end({ outcome: "interrupted" });
  }

  #passPending(): void {
    if (this.#pending !== undefined && this.#chain < MAX_CHAIN) this.#answerHook?.(this.#pending.text);
  }

  #becomeIdle(): void {
    this.#state = "idle";
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #end(end: ChannelTurnEnd): void {
    this.#options.closed();
    if (!this.#isSuperseded)
      this.#options.events.turnEnded(this.#isInterrupted ? { outcome: "interrupted" } : end);
    this.#isSuperseded = false;
  }
}
