import { TeamError } from "../errors.ts";
import type { BudgetLimits, SpentAmount } from "../schema/budget.ts";
import { readTeam } from "../team/config/config.ts";
import { limitsOf, setLimits, spentBy, spentByTeam } from "../team/members/budget.ts";
import { findMember } from "../team/members/members.ts";
import { readStatus } from "../team/records/read-records.ts";
import type { TeamRef } from "../team/ref.ts";
import { ring } from "../wakeup/fifo-bell.ts";
import { type OperationContext, requireLead } from "./context.ts";

/** Whether the price of this model is known. */
export type IsPriced = (model: string) => boolean;

interface BudgetReport {
  /** null for the budget of the whole team. */
  readonly name: string | null;
  readonly limits: BudgetLimits;
  readonly spent: SpentAmount;
}

/**
 * Returns the budget of a member, or without a name of the team. Sets new limits first and wakes the members that wait for them.
 * @param limits only the changed limits; empty to read the budget
 * @param decider a model can neither set nor raise a budget, since it binds the model
 * @throws TeamError NOT_LEAD, PERMISSION_DENIED, AGENT_NOT_FOUND, INVALID_MODEL if a price is unknown; then nothing was changed
 */
export async function budget(
  ctx: OperationContext,
  memberName: string | undefined,
  limits: BudgetLimits,
  isPriced: IsPriced,
  decider: "person" | "model" = "person",
): Promise<BudgetReport> {
  const { ref } = ctx;
  const name = memberName === undefined ? undefined : findMember(readTeam(ref), memberName).name;
  if (Object.keys(limits).length > 0) {
    requireLead(ctx, "set a budget");
    if (decider === "model") {
      throw new TeamError(
        "PERMISSION_DENIED",
        "Only a person can set a budget, not a model. Nothing was changed.",
        {
          hint: "Ask the user for a higher budget and say why; continue with what is left.",
        },
      );
    }
    await setLimitsAndWake(ref, name, limits, isPriced);
  }
  const config = readTeam(ref);
  const of = name === undefined ? config : findMember(config, name);
  const spent = name === undefined ? spentByTeam(ref, config) : spentBy(ref, name);
  return { name: name ?? null, limits: limitsOf(of) ?? {}, spent };
}

async function setLimitsAndWake(
  ref: TeamRef,
  name: string | undefined,
  limits: BudgetLimits,
  isPriced: IsPriced,
): Promise<void> {
  const bound = readTeam(ref).members.filter((member) => name === undefined || member.name === name);
  if (limits.maxCostUsd !== undefined)
    for (const { model } of bound) if (model !== undefined) requirePrice(model, isPriced);
  await setLimits(ref, name, limits);
  for (const member of bound) {
    const { bell } = readStatus(ref, member.name) ?? {};
    if (bell !== undefined) ring(bell);
  }
}

/** @throws TeamError INVALID_MODEL if the price is unknown: such a cost cannot be checked against a limit */
export function requirePrice(model: string, isPriced: IsPriced): void {
  if (isPriced(model)) return;
  throw new TeamError("INVALID_MODEL", `The price of ${model} is unknown; nothing was done.`, {
    hint: `Set its price (teams.prices in settings.json), or limit tokens instead: --max-tokens`,
  });
}
