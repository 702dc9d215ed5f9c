import * as z from "zod/mini";
import type { ToolSpec } from "../model/model.ts";
import type { AnyTool } from "../tool.ts";

const specs = new WeakMap<AnyTool, ToolSpec>();

/** Returns the descriptions of tools for a server. Each is computed once. */
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
  return { name, description, inputSchema: schemaOf(tool.input) };
}

/** Returns the JSON Schema of an input without redundant fields, since every model call pays for its tokens. */
export function schemaOf(input: z.ZodMiniType): Record<string, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(input, {
    io: "input",
    override({ jsonSchema }) {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      delete jsonSchema.propertyNames;
    },
  });
  return schema;
}
