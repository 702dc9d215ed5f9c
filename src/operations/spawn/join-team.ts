import type { TeamConfig, TeamMember } from "../../schema/config.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import { addMembers, type NewMember } from "../../team/members/members.ts";
import { withStartClaim } from "../../team/members/start-claims.ts";
import { recordEvent } from "../../telemetry/event-log.ts";
import { type NewAgentFacts, newAgentFacts } from "../agent-facts.ts";
import type { OperationContext } from "../context.ts";
import {
  type DraftOptions,
  draftMember,
  type SpawnInput,
  spawnType,
  workingDirectory,
} from "./draft-member.ts";
import { recordedLimits } from "./tool-limits.ts";

/** A member that is about to join. */
export interface Drafted {
  readonly input: SpawnInput;
  readonly draft: NewMember;
  /** The facts of its event. */
  readonly facts: NewAgentFacts;
}

/** Drafts a teammate with the agent types of its directory. @throws as {@link draftMember}; SPAWN_FAILED */
export async function draftTeammate(
  ctx: OperationContext,
  config: TeamConfig,
  input: SpawnInput,
  options: Omit<DraftOptions, "types">,
): Promise<Drafted> {
  const types = await ctx.agentTypes?.(workingDirectory(ctx, input));
  const draft = draftMember(ctx, config, input, { ...options, types });
  const cli = readMetadata(draft, "cli");
  if (cli !== undefined) await options.checkVersion?.(cli);
  const own = {
    model: input.model,
    tools: recordedLimits(draft).tools,
    hasOwnPrompt: input.promptOverrides?.override !== undefined,
  };
  return { input, draft, facts: newAgentFacts(ctx.home.root, spawnType(input.agentType, types), own) };
}

interface Joining {
  readonly config: TeamConfig;
  readonly drafted: readonly Drafted[];
  readonly backendType: NewMember["backendType"];
}

/** Adds drafted members to the team, and records each as a new agent. @returns the members, in the order of their drafts */
export async function joinTeam(
  ctx: OperationContext,
  { config, drafted, backendType }: Joining,
): Promise<readonly TeamMember[]> {
  const members = await addMembers(
    ctx.ref,
    withStartClaim(drafted.map(({ draft }) => ({ ...draft, backendType }))),
    { unique: drafted.every(({ input }) => input.unique === true), now: ctx.clock.now() },
  );
  for (const [i, { agentId, agentType }] of members.entries()) {
    const created = drafted[i]?.facts;
    if (created === undefined) continue;
    recordEvent(ctx.ref, { ...created, agentId, agentType, parentSessionId: config.leadSessionId });
  }
  return members;
}
