import { messageOf, TeamError } from "../../errors.ts";
import { after } from "../../os/clock.ts";
import { answerByDefault, defaultOf } from "../../team/requests/answers.ts";
import { awaitingRequest, type RequestRecord } from "../../team/requests/requests.ts";
import type { WorkerContext } from "../context.ts";

/** Milliseconds until the next attempt if a default could not be sent. */
const RETRY_MS = 5_000;

/** Waits for the deadlines of the agent's own questions; then their default is the answer. */
export class QuestionDeadlines {
  readonly #context: WorkerContext;
  readonly #timers = new Map<string, () => void>();

  constructor(context: WorkerContext) {
    this.#context = context;
    context.signal.addEventListener("abort", () => this.#cancelAll(), { once: true });
  }

  /** Does nothing for a request without a deadline. */
  watch(request: RequestRecord): void {
    const deadline = defaultOf(request)?.deadline;
    if (deadline === undefined) return;
    this.#wait(request.id, Math.max(0, deadline - this.#context.clock.now()));
  }

  #wait(id: string, ms: number): void {
    this.#timers.get(id)?.();
    const settle = (): void => {
      this.#timers.delete(id);
      this.#settle(id).catch((error: unknown) => {
        if (error instanceof TeamError && error.code === "REQUEST_NOT_FOUND") return;
        const { view, lifecycle } = this.#context;
        const next = lifecycle.isRunning ? `; the next attempt is in ${RETRY_MS / 1_000} s` : "";
        view.error(`The default answer to ${id} could not be sent (${messageOf(error)})${next}`);
        if (lifecycle.isRunning) this.#wait(id, RETRY_MS);
      });
    };
    this.#timers.set(id, after(ms, settle));
  }

  async #settle(id: string): Promise<void> {
    const { ref, name, clock, view, events, lifecycle } = this.#context;
    if (!lifecycle.isRunning) return;
    const request = awaitingRequest(ref, id, name);
    if (request === undefined || !(await answerByDefault(ref, request, clock.now()))) return;
    events.record({ type: "question", what: "defaulted", requestId: id });
    view.note(
      `no answer came before the deadline, so the default is the answer: ${defaultOf(request)?.answer}`,
    );
  }

  #cancelAll(): void {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }
}
