import { choicesOf, chosen, sendGivenAnswer } from "../../team/requests/answers.ts";
import { closeRequest, hasOpen, questionsOf } from "../../team/requests/requests.ts";
import { operand } from "../../text/shell-quote.ts";
import type { WorkerContext } from "../context.ts";
import type { PlanApproval } from "./plan-approval.ts";

/**
 * The plan and the questions of an agent whose answers come as messages. Whoever answered may have been killed before the
 * message was written: the agent then sends it to itself, under the id that it would have had, so that it has one.
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

  /** It is here. */
  received(question: string): void {
    this.#questions.delete(question);
  }

  /** @throws TeamError where the own inbox cannot be written; the next look tries again */
  async deliver(): Promise<void> {
    const { ref, clock } = this.#context;
    const { request } = this.#planApproval;
    if (request !== undefined) await sendGivenAnswer(ref, request, clock.now());
    for (const id of [...this.#questions]) {
      if (await sendGivenAnswer(ref, id, clock.now())) this.#questions.delete(id);
    }
  }
}

/** What an agent has asked a person: it shows in its pane, and what is typed there answers it. */
export class Questions {
  readonly #context: WorkerContext;
  readonly #answers: UndeliveredAnswers;

  constructor(context: WorkerContext, answers: UndeliveredAnswers) {
    this.#context = context;
    this.#answers = answers;
  }

  get isOpen(): boolean {
    return hasOpen(this.#context.ref, this.#context.name, "question");
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
   * Whoever speaks to it here answers what it has asked by now: a choice may be named by its number.
   * @returns what the line says, and what closes those questions once that is written down
   */
  answerFromLine(line: string): { readonly text: string; close(): void } {
    const { ref, name } = this.#context;
    const asked = questionsOf(ref, name);
    const newest = asked.at(-1);
    return {
      text: newest === undefined ? line : chosen(choicesOf(newest), line),
      close: () => {
        for (const { id } of asked) {
          closeRequest(ref, id);
          this.#answers.received(id);
        }
      },
    };
  }
}
