import { realPathOf } from "../../os/files/symlinks.ts";
import type { NamedTool } from "../permissions/mcp-rules.ts";
import { areNotes } from "../permissions/protected-paths.ts";
import { coversWholeTool, namesTool } from "../permissions/rules.ts";
import type { AnyTool, ToolContext } from "../tool.ts";
import { failed } from "./file-access.ts";

/**
 * Restricts a tool to certain files, for an agent whose type does not have the tool.
 * @param what names the purpose, after "You may use Write only for "
 * @param isAllowed returns true for the paths of an allowed call, with symbolic links resolved
 */
export function restrictTool(
  tool: AnyTool,
  what: string,
  isAllowed: (paths: readonly string[]) => boolean,
): AnyTool {
  const limit = `You may use ${tool.name} only for ${what}`;
  const refused = `${limit}; this call was not made.`;
  const isAllowedCall = (input: unknown, context: ToolContext): boolean => {
    const access = tool.access(input, context);
    return "paths" in access && isAllowed(access.paths.map(realPathOf));
  };
  return {
    ...tool,
    description: `${tool.description} ${limit}.`,
    knownFailure: (input, context, mayRead) =>
      isAllowedCall(input, context) ? tool.knownFailure?.(input, context, mayRead) : failed(refused),
    execute: async (input, context) =>
      isAllowedCall(input, context) ? tool.execute(input, context) : failed(refused),
  };
}

/**
 * Widens a restricted tool to more files.
 * @param what names the purpose, after "you may also use it for "
 */
export function widenTool(
  part: AnyTool,
  whole: AnyTool,
  what: string,
  isAllowed: (paths: readonly string[]) => boolean,
): AnyTool {
  const chosen = (input: unknown, context: ToolContext): AnyTool => {
    const access = part.access(input, context);
    return "paths" in access && isAllowed(access.paths.map(realPathOf)) ? whole : part;
  };
  return {
    ...part,
    description: `${part.description} In plan mode you may also use it for ${what}.`,
    knownFailure: (input, context, mayRead) => chosen(input, context).knownFailure?.(input, context, mayRead),
    execute: async (input, context) => chosen(input, context).execute(input, context),
  };
}

/** Returns true if a tool is a restriction of another by {@link restrictTool}. */
export function isRestrictionOf(tool: AnyTool, whole: AnyTool): boolean {
  return tool.name === whole.name && tool !== whole;
}

export interface ToolChoice {
  /** Names of the tools of the agent's type; undefined for all tools. */
  readonly base?: readonly string[] | undefined;
  /** Names of the only allowed tools. */
  readonly only?: readonly string[] | undefined;
  /** Deny rules: a rule without a pattern removes the tool itself. */
  readonly without?: readonly string[] | undefined;
}

/** Selects an agent's tools: the type's base set, limited to the whitelist, minus the blacklist (protocol.md section 8). */
export function chooseTools<T extends NamedTool>(
  tools: readonly T[],
  { base, only, without = [] }: ToolChoice,
): T[] {
  return tools.filter(
    (tool) =>
      (base === undefined || isAmong(tool, base)) &&
      (only === undefined || isAmong(tool, only)) &&
      !without.some((rule) => coversWholeTool(rule, tool)),
  );
}

/** Returns true if the names include a tool. Bash includes the tools for background tasks. */
function isAmong(tool: NamedTool, named: readonly string[]): boolean {
  const means = (wanted: NamedTool): boolean => named.some((name) => namesTool(name, wanted));
  return means(tool) || (/^Task(Output|Stop)$/.test(tool.name) && means({ name: "Bash" }));
}

/** The tools that an agent needs to keep notes. */
const NOTE_TOOLS = ["Read", "Write", "Edit"];

/**
 * Adds the tools that an agent needs to keep notes. A tool that its type does not have works only for the notes.
 * @param all all available tools
 * @param own the tools of its type
 * @param directory the directory of its notes, with symbolic links resolved
 */
export function withNoteTools(
  all: readonly AnyTool[],
  own: readonly AnyTool[],
  directory: string,
): readonly AnyTool[] {
  const lacking = all.filter((tool) => NOTE_TOOLS.includes(tool.name) && !own.includes(tool));
  const what = `your notes, the Markdown files in ${directory}`;
  return [...own, ...lacking.map((tool) => restrictTool(tool, what, (paths) => areNotes(paths, directory)))];
}
