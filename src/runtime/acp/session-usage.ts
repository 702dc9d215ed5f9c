import type { AgentEvent } from "../../agent/events.ts";
import { modelFacts, USUAL_WINDOW } from "../../agent/model/catalog.ts";
import { namesOfModel } from "../../agent/model/model-names.ts";
import { addTokens, NO_TOKENS, sumOf, type TokenCount } from "../../schema/tokens.ts";
import { readTeam } from "../../team/config/config.ts";
import { spentByTeam } from "../../team/members/budget.ts";
import type { Lead } from "../lead/lead.ts";
import type { ShowFact } from "./facts.ts";

/** Reports the tokens in the lead's conversation, and the cost of the whole team. */
export class SessionUsage {
  readonly #show: ShowFact;
  #used = 0;
  #costUsd = 0;
  #shown = "";
  #sincePrompt: TokenCount = NO_TOKENS;

  constructor(show: ShowFact) {
    this.#show = show;
  }

  /** Counts the tokens in an event of the lead. */
  event(event: AgentEvent): void {
    if (event.type === "spent") this.#sincePrompt = addTokens(this.#sincePrompt, event.usage);
    if (event.type === "model_called" && sumOf(event.usage) > 0) this.#used = sumOf(event.usage);
  }

  /** Shows the values if they have changed. */
  check({ ctx, plan, settings }: Pick<Lead, "ctx" | "plan" | "settings">): void {
    this.#costUsd = spentByTeam(ctx.ref, readTeam(ctx.ref)).costUsd;
    const { prices, models } = settings().teams;
    const { window = USUAL_WINDOW } = modelFacts(
      plan.model,
      prices,
      namesOfModel(plan.model, plan.model, models),
    );
    const fact = { kind: "usage", used: this.#used, size: window, costUsd: this.#costUsd } as const;
    const text = JSON.stringify(fact);
    if (text === this.#shown || (this.#used === 0 && this.#costUsd === 0)) return;
    this.#shown = text;
    this.#show(fact);
  }

  /** Returns the lead's tokens since the last call, for the answer to a prompt. */
  take(): TokenCount {
    const tokens = this.#sincePrompt;
    this.#sincePrompt = NO_TOKENS;
    return tokens;
  }
}
