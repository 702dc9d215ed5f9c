import { bashTool } from "./bash.ts";
import { editTool } from "./edit.ts";
import { globTool } from "./glob.ts";
import { grepTool } from "./grep.ts";
import { readTool } from "./read.ts";
import type { AnyTool } from "./tool.ts";
import { writeTool } from "./write.ts";

/** The tools that every agent can have, which touch files and commands and know no team. */
export function builtinTools(): AnyTool[] {
  return [readTool, writeTool, editTool, globTool, grepTool, bashTool];
}

export interface ToolChoice {
  /** The agent type's own set; undefined is all. */
  readonly base?: readonly string[] | undefined;
  /** Names of a whitelist; undefined is all. Rules with a pattern name their tool. */
  readonly allowed?: readonly string[] | undefined;
  readonly disallowed?: readonly string[] | undefined;
}

/**
 * Which tools an agent is given: the type's set, then the whitelist, then minus the blacklist (protocol.md section 8). A
 * blacklist entry with a pattern is a deny rule and takes no tool away. Tools of the team are in every set.
 * @param isTeamTool tells the ones that act on the team alone
 */
export function chooseTools(
  tools: readonly AnyTool[],
  { base, allowed, disallowed = [] }: ToolChoice,
  isTeamTool: (name: string) => boolean,
): AnyTool[] {
  const whitelist = allowed?.map((rule) => rule.replace(/\(.*$/s, "").trim());
  const blacklist = disallowed.map((rule) => rule.trim());
  return tools.filter(({ name }) => {
    if (blacklist.includes(name)) return false;
    if (isTeamTool(name)) return true;
    return (base?.includes(name) ?? true) && (whitelist?.includes(name) ?? true);
  });
}
