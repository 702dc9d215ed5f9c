import { realPathOf } from "../../os/fs.ts";
import { failed } from "./paths.ts";
import type { AnyTool } from "./tool.ts";

/**
 * A tool that is had for some files alone, by one whose type has it not.
 * @param what they are, behind "You have Write for "
 * @param isMeant asked of the paths of a call, with every link resolved
 */
export function onlyFor(
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
