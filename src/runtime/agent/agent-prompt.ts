import { type AgentType, DEFAULT_AGENT_TYPE } from "../../agent/prompts/agent-types.ts";
import { composeSystem } from "../../agent/prompts/system-prompt.ts";
import type { Notes } from "../../agent/prompts/type-notes.ts";
import type { AnyTool } from "../../agent/tool.ts";
import { TeamError } from "../../errors.ts";
import type { OperationContext } from "../../operations/context.ts";
import type { PromptOverrides } from "../../schema/member-metadata.ts";
import { readTeam } from "../../team/config/config.ts";
import type { TeamRoster } from "../../worker/prompts/roster.ts";
import {
  COORDINATOR_PART,
  LEAD_PART,
  leadSection,
  type TeamFacts,
  teammateSection,
} from "../../worker/prompts/team-sections.ts";
import type { environmentFacts } from "./environment-facts.ts";
import { resourceSections, type SharedParts } from "./subagents.ts";

/** The parts of an agent that its system prompt depends on. */
export interface PromptParts extends Pick<SharedParts, "ctx" | "worker" | "resources"> {
  readonly role: "teammate" | "lead";
  /** Overrides of the system prompt, from the flags of `run` or `spawn`. */
  readonly promptOverrides?: PromptOverrides;
  /** Notes of agents of its type. */
  readonly notes?: Notes | undefined;
  /** No user can be asked: there is no terminal. */
  readonly isUnattended: boolean;
  /** For a lead whose user types goals one after another. */
  readonly isConversational?: boolean;
  /** Patterns of the only files that it may write. */
  readonly writes?: readonly string[] | undefined;
  /** The user has turned agent teams off: a lead works without teammates. */
  readonly teamsOff: boolean;
}

/** Whether a lead only coordinates now. */
export function coordinates({ role, worker }: Pick<PromptParts, "role" | "worker">): boolean {
  return role === "lead" && worker.planApproval.mode === "delegate";
}

/** Composes the prompt before each model call, since mode and roster may change. */
export function systemPrompt(
  parts: PromptParts,
  own: {
    readonly type: AgentType;
    readonly offered: () => readonly AnyTool[];
    readonly roster: TeamRoster;
    readonly environment: ReturnType<typeof environmentFacts>;
  },
): string {
  const { role, isUnattended, notes, promptOverrides, teamsOff } = parts;
  const facts = teamFacts(parts, own.roster);
  const { mode, planFile } = parts.worker.planApproval;
  const isLead = role === "lead";
  const section = isLead
    ? leadSection({
        ...facts,
        run: isUnattended ? "alone" : parts.isConversational ? "open" : "goal",
        delegate: coordinates(parts),
        plans: mode === "plan",
        teamsOff,
      })
    : teammateSection({ ...facts, planFile: mode === "plan" ? planFile : undefined });
  const tools = own.offered().map(({ name }) => name);
  return composeSystem({
    override: promptOverrides?.override,
    agentType: isLead && !teamsOff ? asLeadType(own.type, coordinates(parts)) : own.type,
    tools,
    ...own.environment,
    worksFor: isLead && isUnattended ? "absent-person" : "person",
    mode,
    append: [
      ...resourceSections(parts, tools),
      ...[notes?.section ?? "", section, writesSection(parts.writes), promptOverrides?.append ?? ""],
    ],
  });
}

/** Returns the section about the files that an agent may write, which saves it refused calls; empty without a limit. */
export function writesSection(writes: readonly string[] | undefined): string {
  if (writes === undefined) return "";
  if (writes.length === 0) return "You may not write any file: a call that would write one is denied.";
  return `You may write only files that match these patterns: ${writes.join(", ")}. A call that would write another file is denied.`;
}

/** Replaces the prompt of a lead's type in delegate mode, and that of the built-in general type, which would do all work itself. */
function asLeadType(type: AgentType, coordinates: boolean): AgentType {
  if (coordinates) return { ...type, prompt: COORDINATOR_PART };
  return type.name === DEFAULT_AGENT_TYPE && type.file === undefined ? { ...type, prompt: LEAD_PART } : type;
}

function teamFacts({ ctx, worker }: PromptParts, roster: TeamRoster): TeamFacts {
  return {
    name: worker.name,
    team: ctx.ref.team,
    others: roster.names,
    configFile: ctx.ref.paths.config,
    taskDirectory: ctx.ref.paths.tasks,
  };
}

/** Returns the names of the members; none if the lead has deleted its team, since the lead still writes its result. */
export function memberNames(ctx: OperationContext): string[] {
  try {
    return readTeam(ctx.ref).members.map(({ name }) => name);
  } catch (error) {
    if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") return [];
    throw error;
  }
}
