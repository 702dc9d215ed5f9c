import { choicesOf, resendAnswer, resolveChoice } from "../../team/requests/answers.ts";
import { closeRequest, hasOpenRequest, openQuestionsOf } from "../../team/requests/requests.ts";
import { operand } from "../../text/shell-quote.ts";
import type { WorkerContext } from "../context.ts";
import type { PlanApproval } from "./plan-approval.ts";

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

  constructor(context: WorkerContext, answers: UndeliveredAnswers) {
    this.#context = context;
    this.#answers = answers;
  }

  get isOpen(): boolean {
    return hasOpenRequest(this.#context.ref, this.#context.name, "question");
  }

  show(question: string, choices: readonly string[], requestId: string): void {
    this.#answers.expect(requestId);
    const { view, role } = this.#context;
    const numbered = choices.map((choice, at) => `\n${at + 1}  ${choice}`).join("");
    const typed = choices.length === 0 ? "the answer here" : "the answer or its number here";
    const answer = `type ${typed}, or: teams approve ${operand(requestId)} --note "…"`;
    view.waiting(`asks: ${question} (${answer})${numbered}`, role === "teammate" ? "lead" : "person");
  }

  /**
   * Takes a typed line as the answer to all open questions; the line may be the number of a choice.
   * @returns the text of the answer, and a function that closes the questions, to be called once the text is saved
   */
  answerFromLine(line: string): { readonly text: string; close(): void } {
    const { ref, name } = this.#context;
    const open = openQuestionsOf(ref, name);
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
