import type { ToolLimits } from "../operations/spawn/tool-limits.ts";
import { defined } from "../schema/defined.ts";
import { toolList } from "../schema/tool-names.ts";
import { longName } from "../text/terminal-text.ts";
import { type Command, usageError } from "./command.ts";

/** The options that limit the tools of an agent. */
export const TOOL_OPTIONS = {
  allowedTools: {
    value: "rules",
    summary: "tools that run without asking: Read,Bash(git:*)",
    many: true,
    alias: "allowedTools",
  },
  disallowedTools: { value: "rules", summary: "tools that never run", many: true, alias: "disallowedTools" },
  tools: {
    value: "names",
    summary: "the only tools, in addition to the team tools (default: all of the agent type)",
    many: true,
  },
} as const;

/**
 * Returns the limits that {@link TOOL_OPTIONS} set; an option that was not given sets none.
 * @throws TeamError INVALID_INPUT for an option without a name, which could mean all tools as well as none
 */
export function toolLimits(
  command: Pick<Command, "name" | "args">,
  options: Readonly<Record<keyof typeof TOOL_OPTIONS, readonly string[]>>,
): ToolLimits {
  const listOf = (option: keyof typeof TOOL_OPTIONS): string[] | undefined => {
    if (options[option].length === 0) return undefined;
    const list = toolList(options[option]);
    if (list?.length) return list;
    throw usageError(command, `accepts --${longName(option)} only with ${TOOL_OPTIONS[option].value}.`);
  };
  return defined({
    allowedTools: listOf("allowedTools"),
    disallowedTools: listOf("disallowedTools"),
    tools: listOf("tools"),
  });
}
