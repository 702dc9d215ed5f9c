import {
  agentTypeOrGeneral,
  DEFAULT_AGENT_TYPE,
  ONLY_BUILTIN_TYPES,
} from "../../agent/prompts/agent-types.ts";
import type { TeamConfig, TeamMember } from "../../schema/config.ts";
import { addMembers, type NewMember } from "../../team/members/members.ts";
import { withStartClaim } from "../../team/members/start-claims.ts";
import { recordEvent } from "../../telemetry/event-log.ts";
import { newAgentFacts } from "../agent-facts.ts";
import type { OperationContext } from "../context.ts";
import { type SpawnInput, workingDirectory } from "./draft-member.ts";

interface Joining {
  readonly config: TeamConfig;
  readonly drafts: readonly NewMember[];
  readonly inputs: readonly SpawnInput[];
  readonly backendType: NewMember["backendType"];
}

/** Adds drafted members to the team, and records each as a new agent. @returns the members, in the order of their inputs */
export async function joinTeam(
  ctx: OperationContext,
  { config, drafts, inputs, backendType }: Joining,
): Promise<readonly TeamMember[]> {
  const facts = await Promise.all(drafts.map((draft, i) => factsOf(ctx, draft, inputs[i])));
  const members = await addMembers(
    ctx.ref,
    withStartClaim(drafts.map((draft) => ({ ...draft, backendType }))),
    { unique: inputs.every((input) => input.unique === true), now: ctx.clock.now() },
  );
  for (const [i, { agentId, agentType }] of members.entries()) {
    const created = facts[i];
    if (created === undefined) continue;
    recordEvent(ctx.ref, { ...created, agentId, agentType, parentSessionId: config.leadSessionId });
  }
  return members;
}

async function factsOf(
  ctx: OperationContext,
  { agentType = DEFAULT_AGENT_TYPE }: NewMember,
  input: SpawnInput = { name: "" },
): Promise<ReturnType<typeof newAgentFacts>> {
  const { types } = (await ctx.agentTypes?.(workingDirectory(ctx, input))) ?? ONLY_BUILTIN_TYPES;
  const { model, tools, promptOverrides } = input;
  const hasOwnPrompt = promptOverrides?.override !== undefined;
  return newAgentFacts(ctx.home.root, agentTypeOrGeneral(agentType, types), { model, tools, hasOwnPrompt });
}
