import { operand, optionWords } from "../os/shell-words.ts";
import { defined } from "../schema/defined.ts";
import { LEAD_NAME, SYSTEM_NAME } from "../schema/names.ts";
import { type Budget, budgetsOf } from "../team/budget.ts";
import { type BudgetLevel, budgetUse } from "../team/budget-rules.ts";
import { budgetText } from "../team/budget-text.ts";
import { eventId } from "../team/event-id.ts";
import { deliver } from "../team/mailbox.ts";
import type { TeamRef } from "../team/ref.ts";

/** A budget of which nothing is left. */
export interface SpentBudget {
  /** `10,120 of 10,000 tokens` */
  readonly text: string;
  /** What a person is to know, and how it goes on. */
  readonly sentence: string;
}

/** Looks after the budgets that bind an agent, and tells lead and person of each of the two marks once. */
export class BudgetGate {
  readonly #ref: TeamRef;
  readonly #name: string;
  readonly #tell: (text: string) => void;
  readonly #told = new Set<string>();

  /** @param tell shows a line to the person who looks at the agent */
  constructor(ref: TeamRef, name: string, tell: (text: string) => void) {
    this.#ref = ref;
    this.#name = name;
    this.#tell = tell;
  }

  /**
   * Looks at what was spent by now.
   * @returns the first budget of which nothing is left
   * @throws TeamError TEAM_NOT_FOUND, and what the lead's inbox throws; the next look tells what this one could not
   */
  async look(): Promise<SpentBudget | undefined> {
    let spent: SpentBudget | undefined;
    for (const budget of budgetsOf(this.#ref, this.#name)) {
      const { level, share } = budgetUse(budget.limits, budget.spent);
      if (level === "within") continue;
      const text = budgetText(budget.limits, budget.spent);
      const sentence = sentenceOf(this.#ref, budget, level, share, text);
      if (level === "spent") spent ??= { text, sentence };
      await this.#tellOnce(budget, level, sentence);
    }
    return spent;
  }

  /** Another agent has told of a mark: the person who looks at this one hears of it once. @param event the message's id */
  hear(event: string, text: string): void {
    if (this.#told.has(event)) return;
    this.#told.add(event);
    this.#tell(text);
  }

  /**
   * Of a team's budget many notice the same: the message's id stands for that. A member that stands says so itself, since the
   * lead has to go on without it; everything else is the system's news, which starts no turn.
   */
  async #tellOnce({ member, limits }: Budget, level: BudgetLevel, text: string): Promise<void> {
    const event = eventId("budget", member ?? "", level, JSON.stringify(defined(limits)));
    if (this.#told.has(event)) return;
    const stands = level === "spent" && member !== undefined && member !== LEAD_NAME;
    await deliver(this.#ref, {
      from: stands ? member : SYSTEM_NAME,
      to: LEAD_NAME,
      text,
      messageId: event,
    });
    this.hear(event, text);
  }
}

function sentenceOf(
  { team }: TeamRef,
  { member }: Budget,
  level: BudgetLevel,
  share: number,
  text: string,
): string {
  const whose = member === undefined ? "The team" : member;
  if (level === "near") return `${whose} has used ${Math.floor(share * 100)} % of its budget: ${text}.`;
  const target = member === undefined ? optionWords("--team", team) : operand(`${member}@${team}`);
  const who = member === undefined ? "all of it stops" : "it stops";
  return `${whose} has used up its budget (${text}): ${who} until there is more. A person gives it: teams budget ${target} --max-tokens <tokens> or --max-cost <dollars>`;
}
