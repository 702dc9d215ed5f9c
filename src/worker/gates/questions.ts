import { steadyNow } from "../../os/clock.ts";
import { choicesOf, defaultOf, resendAnswer, resolveChoice } from "../../team/requests/answers.ts";
import {
  closeRequest,
  hasOpenRequest,
  openQuestionsOf,
  type RequestRecord,
  readRequest,
} from "../../team/requests/requests.ts";
import { localTime } from "../../text/local-time.ts";
import { operand } from "../../text/shell-quote.ts";
import type { WorkerContext } from "../context.ts";
import type { PlanApproval } from "./plan-approval.ts";
import { QuestionDeadlines } from "./question-deadlines.ts";

/** Tolerance in milliseconds: a rounded time of the wall clock may seem later. */
const ROUNDING_MS = 5;

/**
 * Delivers lost answers to the agent's plan and questions. A process that answered may have been killed before it wrote the
 * message: the agent then sends the message to itself, under the same id, so that it exists once.
 */
export class UndeliveredAnswers {
  readonly #context: WorkerContext;
  readonly #planApproval: PlanApproval;
  readonly #questions = new Set<string>();

  constructor(context: WorkerContext, planApproval: PlanApproval) {
    this.#context = context;
    this.#planApproval = planApproval;
  }

  expect(question: string): void {
    this.#questions.add(question);
  }

  received(question: string): void {
    this.#questions.delete(question);
  }

  /** Sends the lost answers. @throws TeamError if the agent's inbox cannot be written; the next call tries again */
  async deliver(): Promise<void> {
    const { ref, clock } = this.#context;
    const { request } = this.#planApproval;
    if (request !== undefined) await resendAnswer(ref, request, clock.now());
    for (const id of [...this.#questions]) {
      if (await resendAnswer(ref, id, clock.now())) this.#questions.delete(id);
    }
  }
}

/** The open questions of an agent to a person: shown in its pane, and answered by a typed line. */
export class Questions {
  readonly #context: WorkerContext;
  readonly #answers: UndeliveredAnswers;
  readonly #deadlines: QuestionDeadlines;

  constructor(context: WorkerContext, answers: UndeliveredAnswers) {
    this.#context = context;
    this.#answers = answers;
    this.#deadlines = new QuestionDeadlines(context);
  }

  get isOpen(): boolean {
    return hasOpenRequest(this.#context.ref, this.#context.name, "question");
  }

  /** Continues to wait for the deadlines of questions that an earlier process has asked. */
  restoreDeadlines(): void {
    const { ref, name } = this.#context;
    for (const request of openQuestionsOf(ref, name)) {
      if (defaultOf(request)?.deadline === undefined) continue;
      this.#answers.expect(request.id);
      this.#deadlines.watch(request);
    }
  }

  show(requestId: string): void {
    this.#answers.expect(requestId);
    const { ref, view, role } = this.#context;
    const request = readRequest(ref, requestId);
    const choices = choicesOf(request);
    const question = String(request.payload.question);
    this.#deadlines.watch(request);
    const numbered = choices.map((choice, at) => `\n${at + 1}  ${choice}`).join("");
    const typed = choices.length === 0 ? "the answer here" : "the answer or its number here";
    const answer = `type ${typed}, or answer with teams approve ${operand(requestId)} --note "…"`;
    view.waiting(
      `asks: ${question} (${answer})${numbered}${defaultText(request)}`,
      role === "teammate" ? "lead" : "person",
      requestId,
    );
  }

  /**
   * Takes a typed line as the answer to all questions that were open when it was begun; it may be the number of a choice.
   * @param begun when its first character was typed, in milliseconds of the steady clock
   * @returns the text of the answer, and a function that closes the questions, to be called once the text is saved
   */
  answerFromLine(line: string, begun: number): { readonly text: string; close(): void } {
    const { ref, name, clock } = this.#context;
    const begunAt = clock.now() - (steadyNow() - begun) + ROUNDING_MS;
    const open = openQuestionsOf(ref, name).filter(({ at }) => at <= begunAt);
    const newest = open.at(-1);
    return {
      text: newest === undefined ? line : resolveChoice(choicesOf(newest), line),
      close: () => {
        for (const { id } of open) {
          closeRequest(ref, id);
          this.#answers.received(id);
        }
      },
    };
  }
}

function defaultText(request: RequestRecord): string {
  const known = defaultOf(request);
  if (known === undefined) return "";
  const at =
    known.deadline === undefined ? "" : ` (becomes the answer at ${localTime(known.deadline, "seconds")})`;
  return `\ndefault: ${known.answer}${at}`;
}
