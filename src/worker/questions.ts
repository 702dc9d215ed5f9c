import { operand } from "../os/shell-words.ts";
import { choicesOf, chosen } from "../team/choices.ts";
import type { TeamRef } from "../team/ref.ts";
import { closeRequest, hasOpen, questionsOf } from "../team/requests.ts";
import type { GivenAnswers } from "./given-answers.ts";
import type { WorkerView } from "./view.ts";

export interface QuestionsOptions {
  readonly ref: TeamRef;
  readonly name: string;
  readonly role: "teammate" | "lead";
  readonly view: WorkerView;
}

/** What an agent has asked a person: it shows in its pane, and what is typed there answers it. */
export class Questions {
  readonly #options: QuestionsOptions;
  readonly #answers: GivenAnswers;

  constructor(options: QuestionsOptions, answers: GivenAnswers) {
    this.#options = options;
    this.#answers = answers;
  }

  get isOpen(): boolean {
    return hasOpen(this.#options.ref, this.#options.name, "question");
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
    const asked = questionsOf(ref, name);
    const newest = asked.at(-1);
    return {
      said: newest === undefined ? line : chosen(choicesOf(newest), line),
      close: () => {
        for (const { id } of asked) {
          closeRequest(ref, id);
          this.#answers.arrived(id);
        }
      },
    };
  }
}
