import * as z from "zod/mini";
import type { ToolSpec } from "../model/model.ts";
import type { AnyTool } from "../tool.ts";

const specs = new WeakMap<AnyTool, ToolSpec>();

/** Returns the descriptions of tools for a server. Each description is computed once. */
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

/** Returns the JSON Schema of an input, or of an output, without redundant fields, since every model call pays for its tokens. */
export function schemaOf(input: z.ZodMiniType, io: "input" | "output" = "input"): Record<string, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(input, {
    io,
    override({ jsonSchema }) {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      delete jsonSchema.propertyNames;
      // The schema hides that a number is also accepted: some programs do not support lists of types.
      if (jsonSchema.anyOf?.map(({ type }) => type).join() === "string,number") {
        delete jsonSchema.anyOf;
        jsonSchema.type = "string";
      }
    },
  });
  return schema;
}

/** Returns the top-level keys of an input that the tool ignores. A tool that accepts any key ignores none. */
export function ignoredKeys({ input }: Pick<AnyTool, "input">, given: unknown): string[] {
  if (!(input instanceof z.ZodMiniObject) || typeof given !== "object" || given === null) return [];
  return Object.keys(given).filter((key) => !Object.hasOwn(input.shape, key));
}

/** Returns the input keys that a tool describes to the model. */
export function describedKeys(tool: AnyTool): string[] {
  return Object.keys(toolSpecs([tool])[0]?.inputSchema.properties ?? {});
}
