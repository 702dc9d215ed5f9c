import { realPathOf } from "../../os/fs.ts";
import { areNotes } from "../protected-paths.ts";
import { failed } from "./paths.ts";
import type { AnyTool } from "./tool.ts";

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
  return [...own, ...lacking.map((tool) => forNotes(tool, directory))];
}

function forNotes(tool: AnyTool, directory: string): AnyTool {
  const alone = `You have ${tool.name} for your notes alone, Markdown files in ${directory}.`;
  return {
    ...tool,
    description: `${tool.description} ${alone}`,
    async execute(input, context) {
      const access = tool.access(input, context);
      const isForNotes = "paths" in access && areNotes(access.paths.map(realPathOf), directory);
      return isForNotes ? tool.execute(input, context) : failed(alone);
    },
  };
}
