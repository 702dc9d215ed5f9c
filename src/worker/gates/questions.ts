import type { Clock } from "../../os/clock.ts";
import type { TeamRef } from "../../team/ref.ts";
import { choicesOf, resendAnswer, resolveChoice } from "../../team/requests/answers.ts";
import { closeRequest, hasOpenRequest, openQuestionsOf } from "../../team/requests/requests.ts";
import { operand } from "../../text/shell-quote.ts";
import type { WorkerView } from "../view.ts";
import type { PlanApproval } from "./plan-approval.ts";

interface GivenAnswersOptions {
  readonly ref: TeamRef;
  readonly plan: PlanApproval;
  readonly clock: Clock;
}

/**
 * The plan and the questions of an agent whose answers come as messages. Whoever answered may have been killed before the
 * message was written: the agent then sends it to itself, under the id that it would have had, so that it has one.
 */
export class UndeliveredAnswers {
  readonly #options: GivenAnswersOptions;
  readonly #questions = new Set<string>();

  constructor(options: GivenAnswersOptions) {
    this.#options = options;
  }

  asked(question: string): void {
    this.#questions.add(question);
  }

  /** It is here. */
  arrived(question: string): void {
    this.#questions.delete(question);
  }

  /** @throws TeamError where the own inbox cannot be written; the next look tries again */
  async look(): Promise<void> {
    const { ref, plan, clock } = this.#options;
    const { request } = plan;
    if (request !== undefined) await resendAnswer(ref, request, clock.now());
    for (const id of [...this.#questions]) {
      if (await resendAnswer(ref, id, clock.now())) this.#questions.delete(id);
    }
  }
}

interface QuestionsOptions {
  readonly ref: TeamRef;
  readonly name: string;
  readonly role: "teammate" | "lead";
  readonly view: WorkerView;
}

/** What an agent has asked a person: it shows in its pane, and what is typed there answers it. */
export class Questions {
  readonly #options: QuestionsOptions;
  readonly #answers: UndeliveredAnswers;

  constructor(options: QuestionsOptions, answers: UndeliveredAnswers) {
    this.#options = options;
    this.#answers = answers;
  }

  get isOpen(): boolean {
    return hasOpenRequest(this.#options.ref, this.#options.name, "question");
  }

  asked(question: string, choices: readonly string[], requestId: string): void {
    this.#answers.asked(requestId);
    const { view, role } = this.#options;
    const numbered = choices.map((choice, at) => `\n${at + 1}  ${choice}`).join("");
    const typed = choices.length === 0 ? "the answer here" : "the answer or its number here";
    const answer = `type ${typed}, or: teams approve ${operand(requestId)} --note "…"`;
    view.waiting(`asks: ${question} (${answer})${numbered}`, role === "teammate" ? "lead" : "person");
  }

  /**
   * Whoever speaks to it here answers what it has asked by now: a choice may be named by its number.
   * @returns what the line says, and what closes those questions once that is written down
   */
  answeredBy(line: string): { readonly said: string; close(): void } {
    const { ref, name } = this.#options;
    const asked = openQuestionsOf(ref, name);
    const newest = asked.at(-1);
    return {
      said: newest === undefined ? line : resolveChoice(choicesOf(newest), line),
      close: () => {
        for (const { id } of asked) {
          closeRequest(ref, id);
          this.#answers.arrived(id);
        }
      },
    };
  }
}
