import { realPathOf } from "../../os/real-path.ts";
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

/** Such a part of a tool, had for other files as well. @param what they are, behind "You have Write for " */
export function alsoFor(
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

/** Whether a tool is one that {@link onlyFor} has made of another. */
export function isPart(tool: AnyTool, whole: AnyTool): boolean {
  return tool.name === whole.name && tool !== whole;
}
