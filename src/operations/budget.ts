import { TeamError } from "../errors.ts";
import type { BudgetLimits, SpentAmount } from "../schema/budget.ts";
import { readTeam } from "../team/config/config.ts";
import { limitsOf, setLimits, spentBy, spentByTeam } from "../team/members/budget.ts";
import { findMember } from "../team/members/members.ts";
import { readStatus } from "../team/records/read-records.ts";
import type { TeamRef } from "../team/ref.ts";
import { ring } from "../wakeup/fifo-bell.ts";
import { type OperationContext, requireLead } from "./context.ts";

/** Whether anybody knows what a call of this model costs. */
export type IsPriced = (model: string) => boolean;

interface BudgetReport {
  /** null for the whole team's. */
  readonly name: string | null;
  readonly limits: BudgetLimits;
  readonly spent: SpentAmount;
}

/**
 * The budget of a member or, without a name, of the team; new limits first, and whoever waits for them goes on.
 * @param limits only what is to be changed; empty to look
 * @param decider a budget binds a model, which can neither set nor raise it
 * @throws TeamError NOT_LEAD, PERMISSION_DENIED, AGENT_NOT_FOUND, INVALID_MODEL for a cost that nobody can tell; nothing was changed then
 */
export async function budget(
  ctx: OperationContext,
  given: string | undefined,
  limits: BudgetLimits,
  isPriced: IsPriced,
  decider: "person" | "model" = "person",
): Promise<BudgetReport> {
  const { ref } = ctx;
  const name = given === undefined ? undefined : findMember(readTeam(ref), given).name;
  if (Object.keys(limits).length > 0) {
    requireLead(ctx, "set a budget");
    if (decider === "model") {
      throw new TeamError(
        "PERMISSION_DENIED",
        "Only a person sets a budget, not a model. Nothing was changed.",
        {
          hint: "Say what is needed and what for, and continue with what is left.",
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

/** @throws TeamError INVALID_MODEL: a cost that nobody can tell cannot be held against a limit */
export function requirePrice(model: string, isPriced: IsPriced): void {
  if (isPriced(model)) return;
  throw new TeamError("INVALID_MODEL", `The price of ${model} is not known; nothing was done.`, {
    hint: `Give it a price (teams.prices in settings.json), or limit its tokens: --max-tokens`,
  });
}
