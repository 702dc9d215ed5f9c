import { steadyNow } from "../../os/clock.ts";
import { formatProtocol } from "../../protocol/messages.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { sendMessage } from "../../team/mailbox/send.ts";
import { resolveChoice } from "../../team/requests/answers.ts";
import { newQuestionId } from "../../team/requests/question-id.ts";
import { answerRequest, closeRequest, openAndNotify, readAnswer } from "../../team/requests/requests.ts";
import { operand } from "../../text/shell-quote.ts";
import type { WorkerContext } from "../context.ts";

/** A question of a third-party CLI to a person. Its texts are untrusted. */
export interface CliQuestion {
  readonly question: string;
  readonly choices: readonly string[];
}

/** The answer of a person; undefined if the person declined to answer. */
type CliAnswer = string | undefined;

interface OpenQuestion extends CliQuestion {
  readonly id: string;
  /** Milliseconds of the steady clock. */
  readonly shownAt: number;
  settle(answer: CliAnswer): void;
}

/**
 * The open questions of a third-party CLI. Its turn waits for the answer, which returns through its channel; our own agents get
 * the answer as a message instead.
 */
export class CliQuestions {
  readonly #context: WorkerContext;
  readonly #open: OpenQuestion[] = [];
  /** Ids of all questions of this process. The message with an answer may be read before its question is open, and after its end. */
  readonly #asked = new Set<string>();

  constructor(context: WorkerContext) {
    this.#context = context;
  }

  get isOpen(): boolean {
    return this.#open.length > 0;
  }

  /**
   * Asks a person, and shows the question as a request of the team. Declines while a shutdown request waits. Rejects when the signal
   * aborts.
   */
  async ask({ question, choices }: CliQuestion, signal: AbortSignal): Promise<CliAnswer> {
    const { ref, name, role, clock, queue } = this.#context;
    signal.throwIfAborted();
    if (queue.hasShutdown) return undefined;
    const at = clock.now();
    const id = newQuestionId(ref, name, at);
    const payload = choices.length === 0 ? { question } : { question, choices };
    const summary = choices.length === 0 ? question : `${question} [${choices.join(" / ")}]`;
    const text = formatProtocol(
      { type: "question_request", requestId: id, from: name, ...payload },
      new Date(at),
    );
    const request = { id, kind: "question", from: name, summary, payload, at } as const;
    this.#asked.add(id);
    await openAndNotify(
      ref,
      request,
      async () => role === "teammate" && sendMessage(ref, { from: name, to: LEAD_NAME, text }),
    );
    try {
      return await this.#waitForAnswer({ id, question, choices }, signal);
    } finally {
      closeRequest(ref, id);
    }
  }

  /** Whether a response is for a question of this process: then it is not input for a turn. */
  has(requestId: string): boolean {
    return this.#asked.has(requestId);
  }

  /** Takes the answers from the request files, which contain the first answer to each question. */
  readAnswers(): void {
    for (const open of [...this.#open]) {
      const answer = readAnswer(this.#context.ref, open.id);
      if (answer === undefined) continue;
      const { approve, note } = answer;
      open.settle(note || (approve ? "yes" : undefined));
    }
  }

  /**
   * Takes a line typed in the pane as the answer to the oldest question; it may be the number of a choice.
   * @param begun when its first character was typed, in milliseconds of the steady clock
   * @returns false if it is not an answer
   */
  async answerFromLine(line: string, begun: number): Promise<boolean> {
    const open = this.#open[0];
    if (open === undefined || begun < open.shownAt) return false;
    const { ref, clock } = this.#context;
    const note = resolveChoice(open.choices, line);
    await answerRequest(ref, open.id, { approve: true, note, by: "pane", at: clock.now() });
    this.readAnswers();
    return true;
  }

  /** Declines to answer all questions: the worker is asked to end, and must not wait for a person. */
  declineAll(): void {
    for (const open of [...this.#open]) open.settle(undefined);
  }

  #waitForAnswer(
    { id, question, choices }: CliQuestion & { readonly id: string },
    signal: AbortSignal,
  ): Promise<CliAnswer> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        leave();
        reject(signal.reason);
      };
      const entry: OpenQuestion = {
        ...{ id, question, choices },
        shownAt: steadyNow(),
        settle(answer) {
          leave();
          resolve(answer);
        },
      };
      const leave = (): void => {
        signal.removeEventListener("abort", onAbort);
        const at = this.#open.indexOf(entry);
        if (at >= 0) this.#open.splice(at, 1);
        this.#report();
      };
      this.#open.push(entry);
      this.#report();
      this.#show(entry);
      signal.addEventListener("abort", onAbort);
      if (signal.aborted) onAbort();
      // A shutdown request may have arrived while the question was being sent.
      else if (this.#context.queue.hasShutdown) entry.settle(undefined);
      // An answer may have arrived meanwhile, too.
      else this.readAnswers();
    });
  }

  #report(): void {
    this.#context.status.setOpenQuestions(this.#open.map(({ question }) => question));
  }

  #show({ id, question, choices }: OpenQuestion): void {
    const { view, role } = this.#context;
    const numbered = choices.map((choice, at) => `\n${at + 1}  ${choice}`).join("");
    const answer = `answer with teams approve ${operand(id)} --note "…"`;
    view.waiting(`asks: ${question} (${answer})${numbered}`, role === "teammate" ? "lead" : "person");
  }
}
