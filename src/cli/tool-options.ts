import type { ToolLimits } from "../operations/spawn/tool-limits.ts";
import { defined } from "../schema/defined.ts";
import { toolList } from "../schema/tool-names.ts";

/** The options that limit the tools of an agent. */
export const TOOL_OPTIONS = {
  allowedTools: {
    value: "rules",
    summary: "tools that run without asking: Read,Bash(git:*)",
    many: true,
    alias: "allowedTools",
  },
  disallowedTools: { value: "rules", summary: "tools that never run", many: true, alias: "disallowedTools" },
  tools: { value: "names", summary: "the only tools, besides those for the team", many: true },
} as const;

/** Returns the limits that {@link TOOL_OPTIONS} set; an option that was not given sets none. */
export function toolLimits({
  allowedTools,
  disallowedTools,
  tools,
}: Readonly<Record<keyof typeof TOOL_OPTIONS, readonly string[]>>): ToolLimits {
  const given = (values: readonly string[]): string[] | undefined =>
    values.length === 0 ? undefined : toolList(values);
  return defined({
    allowedTools: given(allowedTools),
    disallowedTools: given(disallowedTools),
    tools: given(tools),
  });
}
