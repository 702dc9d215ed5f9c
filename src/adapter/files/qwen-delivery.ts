import { messageOf } from "../../errors.ts";
import { pause, systemClock } from "../../os/clock.ts";
import { untilAborted } from "../../os/until-aborted.ts";
import type { ChannelEvents } from "../channel.ts";
import { refusalText } from "../refusals.ts";
import type { QwenFiles } from "./qwen-files.ts";
import { submittedText } from "./qwen-texts.ts";
import type { QwenTurns } from "./qwen-turns.ts";

/** Milliseconds until a text is submitted again to a Qwen version that drops texts while it works or starts. */
const AGAIN_MS = 5_000;
/** Milliseconds until the person is asked about a text that Qwen has not taken. Qwen polls its file twice a second. */
const TAKE_MS = 10_000;
const SILENT = {
  name: "Qwen takes no messages",
  remedy: "look in its pane for a dialog, or leave its shell mode",
};

interface DeliveryOptions {
  readonly turns: QwenTurns;
  readonly files: QwenFiles;
  readonly events: ChannelEvents;
  /** Whether Qwen has received a text since a time, but may have run it in its shell mode. */
  readonly wasEntered: (text: string, since: number) => boolean;
  /** Aborts when Qwen ends. */
  readonly signal: AbortSignal;
}

/** Delivers texts to Qwen, one at a time. */
export class QwenDelivery {
  readonly #options: DeliveryOptions;
  /** Whether Qwen drops a text that arrives while it works or starts; newer versions queue it. */
  forgets = false;
  #submitted = "";
  #stop = new AbortController();

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  /** The newest text. */
  get submitted(): string {
    return this.#submitted;
  }

  /** Resolves once Qwen has begun a turn with the text. Rejects if the delivery was stopped earlier. */
  async deliver(text: string): Promise<void> {
    const { turns } = this.#options;
    turns.abandon();
    const signal = this.#renew();
    void this.#urge(signal, () => true);
    await Promise.race([turns.whenIdle, untilAborted(signal)]);
    if (signal.aborted) throw new Error("it was interrupted before it took the text");
    await this.#submit(text);
  }

  /** Continues a turn that Qwen has ended because all calls of an answer were refused. @throws a system error */
  resume(refusals: readonly string[]): void {
    // The end of Qwen, and an interrupt, are reported elsewhere.
    this.#submit(refusalText(refusals)).catch(() => undefined);
  }

  /** Stops the delivery: the text has arrived, or is no longer needed. */
  stop(): void {
    this.#stop.abort();
  }

  /** @throws a system error; nothing was submitted */
  #submit(text: string): Promise<void> {
    const { turns, files, wasEntered } = this.#options;
    this.#submitted = submittedText(text);
    // First: if the text cannot be written, the wait for an idle Qwen must not ask the person any more.
    const signal = this.#renew();
    let since = systemClock.now();
    files.submit(this.#submitted);
    void this.#urge(signal, () => {
      // A second submission never becomes a second turn: Qwen drops text during a turn, or has lost the first submission.
      if (this.forgets || (!turns.isTaken && wasEntered(this.#submitted, since))) {
        since = systemClock.now();
        this.#submitAgain();
      }
      return !turns.isTaken;
    });
    return turns.expect(this.#submitted, !this.forgets);
  }

  #submitAgain(): void {
    const { files, events } = this.#options;
    try {
      files.submit(this.#submitted);
    } catch (error) {
      events.note(`a message was not submitted again: ${messageOf(error)}`);
    }
  }

  #renew(): AbortSignal {
    this.#stop.abort();
    this.#stop = new AbortController();
    return AbortSignal.any([this.#stop.signal, this.#options.signal]);
  }

  /** Asks the person for help with a text that Qwen does not take. @param isWaiting called every five seconds */
  async #urge(signal: AbortSignal, isWaiting: () => boolean): Promise<void> {
    const { events } = this.#options;
    let isBlocked = false;
    for (let waited = AGAIN_MS; (await pause(AGAIN_MS, signal)) === "elapsed"; waited += AGAIN_MS) {
      const isLate = isWaiting() && waited >= TAKE_MS;
      if (isLate !== isBlocked) events.blocked(isLate ? SILENT : undefined);
      isBlocked = isLate;
    }
    if (isBlocked) events.blocked(undefined);
  }
}
