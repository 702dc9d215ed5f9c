import type { AnyTool } from "../../agent/tool.ts";
import { editTool } from "../../agent/tools/edit.ts";
import { writeTool } from "../../agent/tools/write.ts";

const EDITING: ReadonlySet<string> = new Set([editTool.name, writeTool.name, "NotebookEdit"]);

/** Returns the tools; those that edit files call `onEdit` with each path after a successful edit. */
export function watchEdits(
  tools: readonly AnyTool[],
  onEdit: (path: string) => Promise<void>,
): readonly AnyTool[] {
  return tools.map((tool) => {
    if (!EDITING.has(tool.name)) return tool;
    const execute: AnyTool["execute"] = async (input, context) => {
      const result = await tool.execute(input, context);
      const access = tool.access(input, context);
      // The plan is the agent's own file.
      const paths = access.kind === "write" ? access.paths.filter((path) => path !== context.planFile) : [];
      if (result.isError !== true) for (const path of paths) await onEdit(path);
      return result;
    };
    return { ...tool, execute };
  });
}
