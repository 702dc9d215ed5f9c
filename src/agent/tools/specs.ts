import * as z from "zod/mini";
import type { ToolSpec } from "../model/model.ts";
import type { AnyTool } from "./tool.ts";

const specs = new WeakMap<AnyTool, ToolSpec>();

/** The tools as a server wants them described; each is worked out once. */
export function toolSpecs(tools: readonly AnyTool[]): ToolSpec[] {
  return tools.map((tool) => {
    const spec = specs.get(tool) ?? specOf(tool);
    specs.set(tool, spec);
    return spec;
  });
}

function specOf(tool: AnyTool): ToolSpec {
  const { name, description } = tool;
  if (tool.inputSchema !== undefined) return { name, description, inputSchema: tool.inputSchema };
  const { $schema: _, ...inputSchema } = z.toJSONSchema(tool.input, { io: "input" });
  return { name, description, inputSchema };
}
