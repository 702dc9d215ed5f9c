import type { BudgetLimits, SpentAmount } from "../../schema/budget.ts";
import type { TeamConfig, TeamMember } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import { readMetadata, withMetadata } from "../../schema/member-metadata.ts";
import { sumOf } from "../../schema/tokens.ts";
import { readTeam, updateTeam } from "../config/config.ts";
import { readStatus } from "../records/read-records.ts";
import type { TeamRef } from "../ref.ts";
import { findMember, lookUpMember } from "./members.ts";

const NOTHING: SpentAmount = { tokens: 0, costUsd: 0 };

/** One budget that binds an agent: its own, or its team's. */
export interface Budget {
  /** A member's name; undefined for the team. */
  readonly member?: string;
  readonly limits: BudgetLimits;
  readonly spent: SpentAmount;
}

/** The limits of a team or a member; undefined where there are none. */
export function limitsOf(holder: Pick<TeamConfig | TeamMember, "metadata">): BudgetLimits | undefined {
  const limits = readMetadata(holder, "budget");
  return limits !== undefined && Object.keys(limits).length > 0 ? limits : undefined;
}

/** What a member has spent in all its conversation, of which several processes may have had a part. */
export function spentBy(ref: TeamRef, name: string): SpentAmount {
  const status = readStatus(ref, name);
  return status === undefined ? NOTHING : { tokens: sumOf(status.tokens), costUsd: status.costUsd };
}

/** What all members have spent, those that have left included. */
export function spentByTeam(ref: TeamRef, config: TeamConfig): SpentAmount {
  return config.members.map(({ name }) => spentBy(ref, name)).reduce(add, spentByFormer(config));
}

function spentByFormer(config: TeamConfig): SpentAmount {
  return readMetadata(config, "spentByFormer") ?? NOTHING;
}

function add(a: SpentAmount, b: SpentAmount): SpentAmount {
  return { tokens: a.tokens + b.tokens, costUsd: a.costUsd + b.costUsd };
}

/** The config with what somebody spent who leaves the team with this very change: its records will be gone. */
export function withSpentOf(config: TeamConfig, spent: SpentAmount): TeamConfig {
  if (spent.tokens === 0 && spent.costUsd === 0) return config;
  return withMetadata(config, { spentByFormer: add(spentByFormer(config), spent) });
}

/** The budgets that bind a member: what it may spend, and what all of them together may. */
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
 * Sets limits of a member or, without a name, of the team; what is not named stays.
 * @throws TeamError AGENT_NOT_FOUND, TEAM_NOT_FOUND
 */
export async function setLimits(ref: TeamRef, name: string | undefined, limits: BudgetLimits): Promise<void> {
  const merged = <T extends TeamConfig | TeamMember>(one: T): T =>
    withMetadata(one, { budget: { ...limitsOf(one), ...defined(limits) } });
  await updateTeam(ref, (config) => {
    if (name === undefined) return merged(config);
    const member = findMember(config, name);
    return { ...config, members: config.members.map((one) => (one === member ? merged(member) : one)) };
  });
}

/** Part of a budget that is left alone: past it lead and person are told, while there is time to act. */
export const WARN_AT = 0.8;

export type BudgetLevel = "within" | "near" | "spent";

/** How far a budget is used, by the limit that is nearer. */
export interface BudgetUse {
  readonly level: BudgetLevel;
  /** 1 is all of it. */
  readonly share: number;
}

/** Sums of fractions of a cent are off by less. */
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

/** To the cent; what is less to two digits that say something. */
function dollars(amount: number): string {
  return `$${amount === 0 || amount >= 0.1 ? amount.toFixed(2) : amount.toPrecision(2)}`;
}
