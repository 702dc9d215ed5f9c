import { realPathOf } from "../../os/files/real-path.ts";
import type { NamedTool } from "../permissions/mcp-rules.ts";
import { areNotes } from "../permissions/protected-paths.ts";
import { coversWholeTool, namesTool } from "../permissions/rules.ts";
import type { AnyTool } from "../tool.ts";
import { failed } from "./file-access.ts";

/**
 * A tool that is had for some files alone, by one whose type has it not.
 * @param what they are, behind "You have Write for "
 * @param isMeant asked of the paths of a call, with every link resolved
 */
export function restrictTool(
  tool: AnyTool,
  what: string,
  isMeant: (paths: readonly string[]) => boolean,
): AnyTool {
  const alone = `You have ${tool.name} for ${what}.`;
  return {
    ...tool,
    description: `${tool.description} ${alone}`,
    async execute(input, context) {
      const access = tool.access(input, context);
      return "paths" in access && isMeant(access.paths.map(realPathOf))
        ? tool.execute(input, context)
        : failed(alone);
    },
  };
}

/** Such a part of a tool, had for other files as well. @param what they are, behind "You have Write for " */
export function widenTool(
  part: AnyTool,
  whole: AnyTool,
  what: string,
  isMeant: (paths: readonly string[]) => boolean,
): AnyTool {
  return {
    ...part,
    description: `${part.description} When you plan, you have it for ${what} too.`,
    async execute(input, context) {
      const access = part.access(input, context);
      const isMore = "paths" in access && isMeant(access.paths.map(realPathOf));
      return (isMore ? whole : part).execute(input, context);
    },
  };
}

/** Whether a tool is one that {@link restrictTool} has made of another. */
export function isRestrictionOf(tool: AnyTool, whole: AnyTool): boolean {
  return tool.name === whole.name && tool !== whole;
}

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
      !without.some((rule) => coversWholeTool(rule, tool)),
  );
}

/** Whether a tool is meant where these are named: what looks after commands in the background goes with the one that starts them. */
function isAmong(tool: NamedTool, named: readonly string[]): boolean {
  const means = (wanted: NamedTool): boolean => named.some((name) => namesTool(name, wanted));
  return means(tool) || (/^Task(Output|Stop)$/.test(tool.name) && means({ name: "Bash" }));
}

/** Tools that notes are kept with. */
const KEEPING = ["Read", "Write", "Edit"];

/**
 * The tools that keep notes, for an agent whose type has not all of them: what is lacking is had for its notes alone.
 * @param all what is there to be had
 * @param own what its type gives it
 * @param directory of its notes, with every link resolved
 */
export function withNoteTools(
  all: readonly AnyTool[],
  own: readonly AnyTool[],
  directory: string,
): readonly AnyTool[] {
  const lacking = all.filter((tool) => KEEPING.includes(tool.name) && !own.includes(tool));
  const what = `your notes alone, Markdown files in ${directory}`;
  return [...own, ...lacking.map((tool) => restrictTool(tool, what, (paths) => areNotes(paths, directory)))];
}
