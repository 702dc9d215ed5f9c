import { isAboutAll, namesTool } from "../permission-rules.ts";
import type { NamedTool } from "../server-rules.ts";

export interface ToolChoice {
  /** Names of the tools of its type; all without it. */
  readonly base?: readonly string[] | undefined;
  /** The only ones that are wanted, by name. */
  readonly only?: readonly string[] | undefined;
  /** Rules for what never runs: one that names a tool and no pattern takes the tool itself away. */
  readonly without?: readonly string[] | undefined;
}

/** The tools of these that an agent has: the type's base set, then the whitelist, then minus the blacklist (protocol.md section 8). */
export function chooseTools<T extends NamedTool>(
  tools: readonly T[],
  { base, only, without = [] }: ToolChoice,
): T[] {
  return tools.filter(
    (tool) =>
      (base === undefined || isAmong(tool, base)) &&
      (only === undefined || isAmong(tool, only)) &&
      !without.some((rule) => isAboutAll(rule, tool)),
  );
}

/** Whether a tool is meant where these are named: what looks after commands in the background goes with the one that starts them. */
function isAmong(tool: NamedTool, named: readonly string[]): boolean {
  const means = (wanted: NamedTool): boolean => named.some((name) => namesTool(name, wanted));
  return means(tool) || (/^Task(Output|Stop)$/.test(tool.name) && means({ name: "Bash" }));
}
