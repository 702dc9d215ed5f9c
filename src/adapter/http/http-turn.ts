import { after, systemClock } from "../../os/clock.ts";
import type { ChannelEvents, ReportedLimit } from "../channel.ts";
import { reportedLimit } from "../reported-limit.ts";
import { cleaned, countOf, type Fields, fieldsOf, oneLine } from "../reported-values.ts";
import { textOf } from "./http-requests.ts";

/** A retry later than this many milliseconds means more than a short overload. */
const LONG_RETRY_MS = 120_000;
/** Time limit in milliseconds for OpenCode to begin the next turn: far more than it needs. */
const BEGIN_MS = 5_000;

/** The events that turns report. */
type TurnEvents = Pick<
  ChannelEvents,
  "turnStarted" | "turnEnded" | "text" | "toolStarted" | "toolEnded" | "spent"
>;

interface Taking {
  resolve(): void;
  reject(error: Error): void;
}

/** The turns of one session as its events report them, including turns that a person began. */
export class HttpTurn {
  readonly #session: string;
  readonly #events: TurnEvents;
  readonly #open = new Set<string>();
  /** Steps whose tokens were counted. */
  readonly #counted = new Set<string>();
  /** A delivered text that the CLI has not accepted yet: an `idle` event now belongs to the previous turn. */
  #taking: Taking | undefined;
  #isBusy = false;
  #isInterrupted = false;
  /** The text was interrupted before its turn began: OpenCode ignores an abort then. */
  #mustAbort = false;
  /** The previous turn was aborted while the delivered text waited. */
  #wasAborted = false;
  /** Why the previous turn failed while the delivered text waited, or why OpenCode refused that text meanwhile. */
  #failureBefore: string | undefined;
  #failure: string | undefined;
  /** The account limit that made us abort the turn. */
  #limit: ReportedLimit | undefined;
  #stopWaiting: () => void = () => undefined;
  readonly #abort: () => void;
  readonly #beginMs: number;

  /**
   * @param abort ends the running turn in OpenCode
   * @param beginMs milliseconds in which OpenCode must start the turn of a text that was delivered during another turn
   */
  constructor(session: string, events: TurnEvents, abort: () => void, beginMs = BEGIN_MS) {
    this.#session = session;
    this.#events = events;
    this.#abort = abort;
    this.#beginMs = beginMs;
  }

  get isRunning(): boolean {
    return this.#isBusy || this.#taking !== undefined;
  }

  /** Waits for the turn of a message. @returns a promise that resolves once the CLI has begun it; rejects if the CLI refuses the text */
  begin(): Promise<void> {
    this.#stopWaiting();
    this.#isInterrupted = false;
    this.#mustAbort = false;
    this.#wasAborted = false;
    this.#failureBefore = undefined;
    this.#failure = undefined;
    return new Promise((resolve, reject) => {
      this.#taking = { resolve, reject };
    });
  }

  /** Call when the CLI did not accept the text of `begin`. The end of the previous turn is then reported. */
  forget(): void {
    this.#taking = undefined;
    this.#isInterrupted ||= this.#wasAborted;
    this.#failure ??= this.#failureBefore;
  }

  interrupted(): void {
    this.#isInterrupted = true;
    this.#mustAbort = this.#taking !== undefined;
  }

  /** Rejects the text that the CLI has not accepted, because the CLI has ended. */
  fail(error: Error): void {
    this.#stopWaiting();
    this.#taking?.reject(error);
    this.#taking = undefined;
  }

  event(type: string, properties: Fields): void {
    if (properties.sessionID !== this.#session) return;
    switch (type) {
      case "session.status":
        this.#onStatus(fieldsOf(properties.status));
        return;
      case "session.idle":
        this.#onIdle();
        return;
      case "session.error":
        this.#onError(fieldsOf(properties.error));
        return;
      case "message.part.updated":
        this.#onPart(fieldsOf(properties.part));
        return;
    }
  }

  /** OpenCode retries a failed call itself. At a limit of the account we abort and wait instead, with the team's other members. */
  #onStatus({ type, message, next }: Fields): void {
    if (type === "idle") this.#onIdle();
    if (type !== "busy" && type !== "retry") return;
    this.#onBusy();
    if (type === "busy") return;
    const now = systemClock.now();
    const failure = cleaned(textOf(message) ?? "");
    const reported = reportedLimit(failure, now);
    const isLong = typeof next === "number" && next - now > LONG_RETRY_MS;
    if (reported === undefined && !isLong) return;
    this.#failure = failure;
    this.#limit = { resumeAt: reported?.resumeAt ?? (isLong ? next : undefined) };
    this.#abort();
  }

  #onBusy(): void {
    const taking = this.#taking;
    this.#stopWaiting();
    this.#taking = undefined;
    if (taking !== undefined) {
      taking.resolve();
      if (this.#mustAbort) this.#abort();
    } else if (!this.#isBusy) {
      this.#isInterrupted = false;
      this.#failure = undefined;
      this.#events.turnStarted();
    }
    this.#isBusy = true;
  }

  #onIdle(): void {
    if (!this.#isBusy) return;
    this.#isBusy = false;
    this.#open.clear();
    this.#counted.clear();
    const limit = this.#limit;
    this.#limit = undefined;
    const taking = this.#taking;
    if (taking !== undefined) {
      // The previous turn has ended. OpenCode now starts ours, or has added our text to the previous turn.
      this.#stopWaiting();
      this.#stopWaiting = after(this.#beginMs, () => this.#onAdded(taking));
      return;
    }
    if (limit !== undefined)
      this.#events.turnEnded({ outcome: "failed", failure: this.#failure ?? "", limit });
    else if (this.#isInterrupted) this.#events.turnEnded({ outcome: "interrupted" });
    else if (this.#failure !== undefined)
      this.#events.turnEnded({ outcome: "failed", failure: this.#failure });
    else this.#events.turnEnded({ outcome: "completed" });
  }

  /** Reports the previous turn's end as the end of the text's turn: OpenCode added the text to that turn, or refused it. */
  #onAdded(taking: Taking): void {
    this.#taking = undefined;
    taking.resolve();
    const failure = this.#failureBefore;
    if (this.#isInterrupted || this.#wasAborted) this.#events.turnEnded({ outcome: "interrupted" });
    else if (failure !== undefined) this.#events.turnEnded({ outcome: "failed", failure });
    else this.#events.turnEnded({ outcome: "completed" });
  }

  #onError({ name, data }: Fields): void {
    const isBefore = this.#taking !== undefined && this.#isBusy;
    if (name === "MessageAbortedError") {
      // A person aborted the turn, or we did. An abort of the previous turn does not end the turn of the waiting text.
      if (isBefore) this.#wasAborted = true;
      else this.#isInterrupted = true;
      return;
    }
    const failure = cleaned(textOf(fieldsOf(data).message) ?? textOf(name) ?? "an unknown error");
    if (isBefore) {
      // The waiting text fails too if OpenCode starts no turn for it.
      this.#failureBefore = failure;
      return;
    }
    if (this.#limit === undefined) this.#failure = failure;
    if (this.#taking === undefined || this.#isInterrupted) return;
    // The turn failed before it began, so no `idle` follows.
    this.#stopWaiting();
    this.#taking.resolve();
    this.#taking = undefined;
    this.#isBusy = true;
    this.#onIdle();
  }

  #onPart(part: Fields): void {
    // Events after the end of a turn are ignored.
    if (!this.#isBusy) return;
    if (part.type === "text") {
      // Text typed by a person has no `time`, so it is not reported.
      const isWhole = fieldsOf(part.time).end !== undefined;
      if (isWhole && part.synthetic !== true && typeof part.text === "string") this.#events.text(part.text);
    } else if (part.type === "tool") this.#onTool(part);
    else if (part.type === "step-finish") this.#onSpent(part);
  }

  #onTool({ callID, tool, state }: Fields): void {
    if (typeof callID !== "string") return;
    const { status, title, input, output, error } = fieldsOf(state);
    if (status === "pending") return;
    if (!this.#open.has(callID)) {
      this.#open.add(callID);
      const { command, filePath } = fieldsOf(input);
      const summary = textOf(command) ?? textOf(filePath) ?? textOf(title) ?? "";
      this.#events.toolStarted({
        id: callID,
        tool: oneLine(textOf(tool) ?? "tool"),
        summary: oneLine(summary),
      });
    }
    if (status !== "completed" && status !== "error") return;
    this.#open.delete(callID);
    const content = textOf(output) ?? textOf(error) ?? "";
    this.#events.toolEnded({ id: callID, content, isError: status === "error" });
  }

  #onSpent({ id, tokens, cost }: Fields): void {
    if (typeof id !== "string" || this.#counted.has(id)) return;
    this.#counted.add(id);
    const { input, output, reasoning, cache } = fieldsOf(tokens);
    const { read, write } = fieldsOf(cache);
    this.#events.spent({
      usage: {
        input: countOf(input),
        output: countOf(output) + countOf(reasoning),
        cacheRead: countOf(read),
        cacheWrite: countOf(write),
      },
      costUsd: typeof cost === "number" && cost > 0 ? cost : 0,
    });
  }
}
