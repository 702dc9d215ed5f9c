import { areNotes } from "../protected-paths.ts";
import { onlyFor } from "./only-for.ts";
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
  const what = `your notes alone, Markdown files in ${directory}`;
  return [...own, ...lacking.map((tool) => onlyFor(tool, what, (paths) => areNotes(paths, directory)))];
}
