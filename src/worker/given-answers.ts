import type { Clock } from "../os/clock.ts";
import { sendGivenAnswer } from "../team/answers.ts";
import type { TeamRef } from "../team/ref.ts";
import type { PlanGate } from "./plan-gate.ts";

export interface GivenAnswersOptions {
  readonly ref: TeamRef;
  readonly plan: PlanGate;
  readonly clock: Clock;
}

/**
 * The plan and the questions of an agent whose answers come as messages. Whoever answered may have been killed before the
 * message was written: the agent then sends it to itself, under the id that it would have had, so that it has one.
 */
export class GivenAnswers {
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
    if (request !== undefined) await sendGivenAnswer(ref, request, clock.now());
    for (const id of [...this.#questions]) {
      if (await sendGivenAnswer(ref, id, clock.now())) this.#questions.delete(id);
    }
  }
}
