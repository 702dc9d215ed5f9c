import { namesTool, parseRule } from "../../agent/permissions/rules.ts";
import { requestRefusal, TeamError } from "../../errors.ts";
import type { TeamMember } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { changeMetadata, patchMember } from "../../team/members/members.ts";
import type { TeamRef } from "../../team/ref.ts";
import { optionWords } from "../../text/shell-quote.ts";
import { longName } from "../../text/terminal-text.ts";

/** The tools that an agent may use, beyond the rules of the settings. */
export interface ToolLimits {
  /** Rules for calls that run without asking. */
  readonly allowedTools?: readonly string[];
  /** Rules for calls that never run. */
  readonly disallowedTools?: readonly string[];
  /** The names of its only tools; team tools are not limited. */
  readonly tools?: readonly string[];
}

/** @param name of the agent that was to start @throws TeamError INVALID_INPUT */
export function requireValidTools(name: string, { tools, allowedTools, disallowedTools }: ToolLimits): void {
  if (tools?.length === 0) {
    throw requestRefusal("INVALID_INPUT", "The list of tools is empty", `${name} was not started`, {
      hint: "Leave the list out for all tools.",
    });
  }
  const invalidTool = tools?.find((tool) => !/^[\w.*-]+$/.test(tool));
  if (invalidTool !== undefined) {
    throw requestRefusal(
      "INVALID_INPUT",
      `${JSON.stringify(invalidTool)} is not a tool's name`,
      `${name} was not started`,
      {
        hint: "--tools takes names only. To restrict a tool's arguments, use --allowed-tools and --disallowed-tools.",
      },
    );
  }
  for (const [field, rules] of Object.entries({ allowedTools, disallowedTools })) {
    const invalidRule = rules?.find((rule) => parseRule(rule) === undefined);
    if (invalidRule === undefined) continue;
    throw requestRefusal(
      "INVALID_INPUT",
      `${JSON.stringify(invalidRule)} is not a rule`,
      `${name} was not started`,
      { hint: "Rules look like Edit, Bash(git:*), Read(~/notes/**).", details: { field } },
    );
  }
}

/**
 * Adds the limits of a lead to those of a teammate that its model starts.
 * @throws TeamError PERMISSION_DENIED for a tool that the lead's own list does not name
 */
export function withLimitsOf<T extends ToolLimits & { readonly name: string }>(
  input: T,
  lead: ToolLimits,
): T {
  const { name, tools = lead.tools } = input;
  const beyond =
    lead.tools && tools?.filter((tool) => !lead.tools?.some((own) => namesTool(own, { name: tool })));
  if (beyond?.length) {
    throw new TeamError(
      "PERMISSION_DENIED",
      `The lead's only tools are ${lead.tools?.join(", ")}, so ${name} cannot have ${beyond.join(", ")}; it was not started.`,
      { hint: "Leave out --tools; the teammate then has the lead's tools." },
    );
  }
  return {
    ...input,
    ...defined({
      allowedTools: joined(lead.allowedTools, input.allowedTools),
      disallowedTools: joined(lead.disallowedTools, input.disallowedTools),
      tools,
    }),
  };
}

function joined(
  first: readonly string[] | undefined,
  second: readonly string[] | undefined,
): readonly string[] | undefined {
  return first === undefined ? second : [...first, ...(second ?? [])];
}

/** Returns the options that set these limits. */
export function limitWords(limits: ToolLimits): string {
  return Object.entries(limits)
    .map(([key, values]: [string, readonly string[]]) => optionWords(`--${longName(key)}`, values.join(",")))
    .join(" ");
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
