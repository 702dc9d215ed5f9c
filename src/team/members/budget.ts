import type { BudgetLimits, SpentAmount } from "../../schema/budget.ts";
import type { TeamConfig, TeamMember } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import { readMetadata, withMetadata } from "../../schema/member-metadata.ts";
import { sumOf } from "../../schema/tokens.ts";
import { readTeam, updateTeam } from "../config/config.ts";
import { readStatus } from "../records/read-records.ts";
import type { TeamRef } from "../ref.ts";
import { findMember, lookUpMember, withReplaced } from "./members.ts";

const NOTHING: SpentAmount = { tokens: 0, costUsd: 0 };

/** A budget that applies to an agent: its own, or its team's. */
export interface Budget {
  /** A member's name; undefined for the team. */
  readonly member?: string;
  readonly limits: BudgetLimits;
  readonly spent: SpentAmount;
}

/** Returns the limits of a team or a member; undefined without limits. */
export function limitsOf(holder: Pick<TeamConfig | TeamMember, "metadata">): BudgetLimits | undefined {
  const limits = readMetadata(holder, "budget");
  return limits !== undefined && Object.keys(limits).length > 0 ? limits : undefined;
}

/** Returns the amount spent in a member's whole conversation, by all its processes. */
export function spentBy(ref: TeamRef, name: string): SpentAmount {
  const status = readStatus(ref, name);
  return status === undefined ? NOTHING : { tokens: sumOf(status.tokens), costUsd: status.costUsd };
}

/** Returns the amount spent by all members, including those that have left, and by a lead that a person replaced. */
export function spentByTeam(ref: TeamRef, config: TeamConfig): SpentAmount {
  const former = add(spentByFormer(config), readMetadata(config, "formerLeadSpent") ?? NOTHING);
  return config.members.map(({ name }) => spentBy(ref, name)).reduce(add, former);
}

function spentByFormer(config: TeamConfig): SpentAmount {
  return readMetadata(config, "spentByFormer") ?? NOTHING;
}

function add(a: SpentAmount, b: SpentAmount): SpentAmount {
  return { tokens: a.tokens + b.tokens, costUsd: a.costUsd + b.costUsd };
}

/** Adds the amount spent by a member that leaves with this change, since its records will be deleted. */
export function withSpentOf(config: TeamConfig, spent: SpentAmount): TeamConfig {
  if (spent.tokens === 0 && spent.costUsd === 0) return config;
  return withMetadata(config, { spentByFormer: add(spentByFormer(config), spent) });
}

/** Returns the budgets that apply to a member: its own, and that of the whole team. */
export function budgetsOf(ref: TeamRef, name: string): Budget[] {
  const config = readTeam(ref);
  const member = lookUpMember(config, name);
  const own = member && limitsOf(member);
  const limits = limitsOf(config);
  return [
    ...(own === undefined ? [] : [{ member: name, limits: own, spent: spentBy(ref, name) }]),
    ...(limits === undefined ? [] : [{ limits, spent: spentByTeam(ref, config) }]),
  ];
}

/**
 * Sets limits of a member or, without a name, of the team. Other limits stay.
 * @throws TeamError AGENT_NOT_FOUND, TEAM_NOT_FOUND
 */
export async function setLimits(ref: TeamRef, name: string | undefined, limits: BudgetLimits): Promise<void> {
  const merged = <T extends TeamConfig | TeamMember>(one: T): T =>
    withMetadata(one, { budget: { ...limitsOf(one), ...defined(limits) } });
  await updateTeam(ref, (config) => {
    if (name === undefined) return merged(config);
    const member = findMember(config, name);
    return withReplaced(config, member, merged(member));
  });
}

/** Share of a budget at which the lead and the user are warned, while there is time to act. */
const WARN_AT = 0.8;

export type BudgetLevel = "within" | "near" | "spent";

/** How much of a budget is used, by its nearer limit. */
interface BudgetUse {
  readonly level: BudgetLevel;
  /** 1 means all of it. */
  readonly share: number;
}

/** Rounds to 1e-9: sums of fractions of a cent have smaller floating-point errors. */
const PRECISION = 1e9;

export function budgetUse({ maxTokens, maxCostUsd }: BudgetLimits, spent: SpentAmount): BudgetUse {
  const shares = [
    maxTokens === undefined ? 0 : spent.tokens / maxTokens,
    maxCostUsd === undefined ? 0 : spent.costUsd / maxCostUsd,
  ];
  const share = Math.round(Math.max(...shares) * PRECISION) / PRECISION;
  return { level: share >= 1 ? "spent" : share >= WARN_AT ? "near" : "within", share };
}

/** `8,123 of 10,000 tokens, $0.12 of $1.00` */
export function budgetText(
  { maxTokens, maxCostUsd }: BudgetLimits,
  { tokens, costUsd }: SpentAmount,
): string {
  const parts = [
    ...(maxTokens === undefined ? [] : [`${grouped(tokens)} of ${grouped(maxTokens)} tokens`]),
    ...(maxCostUsd === undefined ? [] : [`${dollars(costUsd)} of ${dollars(maxCostUsd)}`]),
  ];
  return parts.join(", ");
}

function grouped(count: number): string {
  return Math.round(count).toLocaleString("en-US");
}

/** Formats an amount to the cent; less than 10 cents with two significant digits. */
function dollars(amount: number): string {
  return `$${amount === 0 || amount >= 0.1 ? amount.toFixed(2) : amount.toPrecision(2)}`;
}
