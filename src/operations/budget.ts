import { requestRefusal, TeamError } from "../errors.ts";
import type { BudgetLimits, SpentAmount } from "../schema/budget.ts";
import type { TeamMember } from "../schema/config.ts";
import { readMetadata } from "../schema/member-metadata.ts";
import { readTeam } from "../team/config/config.ts";
import { limitsOf, setLimits, spentBy, spentByTeam } from "../team/members/budget.ts";
import { findMember } from "../team/members/members.ts";
import { readStatus } from "../team/records/read-records.ts";
import type { TeamRef } from "../team/ref.ts";
import { ring } from "../wakeup/fifo-bell.ts";
import { type OperationContext, requireLead } from "./context.ts";

/** Whether the price of this model is known. */
export type IsPriced = (model: string) => boolean;

/** The known costs of models and CLIs. */
export interface KnownCosts {
  readonly isPriced: IsPriced;
  /** Returns what a third-party CLI reports; undefined if it is no longer known. */
  reportsOf(cli: string): readonly string[] | undefined;
}

interface BudgetReport {
  /** null for the budget of the whole team. */
  readonly name: string | null;
  readonly limits: BudgetLimits;
  readonly spent: SpentAmount;
  /** Members whose CLI does not report its tokens, although a limit of the team counts them. */
  readonly uncounted: readonly string[];
}

/**
 * Returns the budget of a member; without a name, that of the team. Sets new limits first and wakes the members that wait for them.
 * @param limits only the changed limits; empty to read the budget
 * @param decider a model can neither set nor raise a budget, since it limits the model
 * @throws TeamError NOT_LEAD, PERMISSION_DENIED, AGENT_NOT_FOUND, INVALID_MODEL if a price is unknown, INVALID_INPUT if the member's
 * CLI does not report what the limit counts; then nothing was changed
 */
export async function budget(
  ctx: OperationContext,
  memberName: string | undefined,
  limits: BudgetLimits,
  costs: KnownCosts,
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
    await setLimitsAndWake(ref, name, limits, costs);
  }
  const config = readTeam(ref);
  const of = name === undefined ? config : findMember(config, name);
  const spent = name === undefined ? spentByTeam(ref, config) : spentBy(ref, name);
  const set = limitsOf(of) ?? {};
  const isCounted = ({ name: one }: TeamMember): boolean =>
    reports(findMember(config, one), "tokens", costs) !== false;
  const uncounted =
    name !== undefined || set.maxTokens === undefined
      ? []
      : config.members.filter((one) => !isCounted(one)).map((one) => one.name);
  return { name: name ?? null, limits: set, spent, uncounted };
}

/** Whether the CLI of a member reports its tokens or its cost; undefined for our own agents and unknown CLIs. */
function reports(member: TeamMember, what: "tokens" | "cost", costs: KnownCosts): boolean | undefined {
  // Regardless of what its CLI could report: teams only types to an adopted codex.
  if (readMetadata(member, "typed") === true) return false;
  const cli = readMetadata(member, "cli");
  return cli === undefined ? undefined : costs.reportsOf(cli)?.includes(what);
}

async function setLimitsAndWake(
  ref: TeamRef,
  name: string | undefined,
  limits: BudgetLimits,
  costs: KnownCosts,
): Promise<void> {
  const bound = readTeam(ref).members.filter((member) => name === undefined || member.name === name);
  for (const member of bound) {
    const hasLimit = limits.maxTokens !== undefined || limits.maxCostUsd !== undefined;
    if (hasLimit && name !== undefined && readMetadata(member, "ownInbox") === true)
      throw unstoppable(member);
    if (limits.maxTokens !== undefined && name !== undefined && reports(member, "tokens", costs) === false)
      throw unreported(member, "tokens");
    if (limits.maxCostUsd === undefined) continue;
    const isReported = reports(member, "cost", costs);
    if (isReported === false) throw unreported(member, "cost");
    if (isReported === undefined && member.model !== undefined) requirePrice(member.model, costs.isPriced);
  }
  await setLimits(ref, name, limits);
  for (const member of bound) {
    const { bell } = readStatus(ref, member.name) ?? {};
    if (bell !== undefined) ring(bell);
  }
}

function unstoppable(member: TeamMember): TeamError {
  const what = `${readMetadata(member, "cli")} reads its inbox itself, so teams cannot stop ${member.name} at a limit`;
  return new TeamError("INVALID_INPUT", `${what}. Nothing was changed.`, {
    hint: "Limit the team instead: its budget counts these tokens, and the other members pause at its limit.",
  });
}

function unreported(member: TeamMember, what: "tokens" | "cost"): TeamError {
  const cli = readMetadata(member, "cli");
  if (readMetadata(member, "typed") === true) {
    const why = `teams only types to ${member.name} and does not see what it spends, so a limit would have no effect.`;
    return new TeamError("INVALID_INPUT", `${why} Nothing was changed.`);
  }
  const message = `${cli} does not report its ${what}, so a limit for ${member.name} would have no effect. Nothing was changed.`;
  const hint =
    what === "cost"
      ? "Limit tokens instead: --max-tokens"
      : `If it does report them, add "${what}" to "reports" in its entry under teams.adapters.`;
  return new TeamError("INVALID_INPUT", message, { hint });
}

/** @throws TeamError INVALID_MODEL if the price is unknown: such a cost cannot be checked against a limit */
export function requirePrice(model: string, isPriced: IsPriced): void {
  if (isPriced(model)) return;
  throw requestRefusal("INVALID_MODEL", `The price of ${model} is unknown`, "nothing was done", {
    hint: `Set its price (teams.prices in settings.json), or limit tokens instead: --max-tokens`,
  });
}
