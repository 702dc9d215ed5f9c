import { parseRule } from "../../agent/permissions/rules.ts";
import { TeamError } from "../../errors.ts";
import type { TeamMember } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { changeMetadata, patchMember } from "../../team/members/members.ts";
import type { TeamRef } from "../../team/ref.ts";

/** The tools that an agent may use, beyond the rules of the settings. */
export interface ToolLimits {
  /** Rules of what runs without asking. */
  readonly allowedTools?: readonly string[];
  /** Rules of what never runs. */
  readonly disallowedTools?: readonly string[];
  /** The names of its only tools; team tools are not limited. */
  readonly tools?: readonly string[];
}

/** @param name of the agent that was to start @throws TeamError INVALID_INPUT */
export function requireValidTools(name: string, { tools, allowedTools, disallowedTools }: ToolLimits): void {
  const invalidTool = tools?.find((tool) => !/^[\w.*-]+$/.test(tool));
  if (invalidTool !== undefined) {
    throw new TeamError(
      "INVALID_INPUT",
      `${JSON.stringify(invalidTool)} is not a tool's name; ${name} was not started.`,
      {
        hint: "--tools takes names only. To restrict a tool's arguments, use --allowed-tools and --disallowed-tools.",
      },
    );
  }
  const invalidRule = [...(allowedTools ?? []), ...(disallowedTools ?? [])].find(
    (rule) => parseRule(rule) === undefined,
  );
  if (invalidRule !== undefined) {
    throw new TeamError(
      "INVALID_INPUT",
      `${JSON.stringify(invalidRule)} is not a rule; ${name} was not started.`,
      { hint: "Rules look like Edit, Bash(git:*), Read(~/notes/**)." },
    );
  }
}

/** Adds the limits of a run to those of one of its agents. Its own tools are given only outside of a run. */
export function withLimitsOf<T extends ToolLimits>(input: T, run: ToolLimits): T {
  return {
    ...input,
    ...defined({
      allowedTools: joined(run.allowedTools, input.allowedTools),
      disallowedTools: joined(run.disallowedTools, input.disallowedTools),
      tools: run.tools ?? input.tools,
    }),
  };
}

function joined(
  first: readonly string[] | undefined,
  second: readonly string[] | undefined,
): readonly string[] | undefined {
  return first === undefined ? second : [...first, ...(second ?? [])];
}

/** Returns the limits that a member's record has. */
export function recordedLimits(
  member: Pick<TeamMember, "allowedTools" | "disallowedTools" | "metadata">,
): ToolLimits {
  const { allowedTools, disallowedTools } = member;
  return defined({ allowedTools, disallowedTools, tools: readMetadata(member, "tools") });
}

/** Records the limits of a run's lead, so that a resumed run has them too. @throws TeamError TEAM_NOT_FOUND */
export async function recordLeadLimits(ref: TeamRef, limits: ToolLimits): Promise<void> {
  const { tools, allowedTools, disallowedTools } = limits;
  if (allowedTools !== undefined || disallowedTools !== undefined)
    await patchMember(ref, LEAD_NAME, {
      allowedTools: allowedTools?.slice(),
      disallowedTools: disallowedTools?.slice(),
    });
  if (tools !== undefined) await changeMetadata(ref, LEAD_NAME, { tools: tools.slice() });
}
