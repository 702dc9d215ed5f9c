import * as z from "zod/mini";
import { firstIssue, parseWithMessages } from "../../schema/zod-helpers.ts";
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

/** Parses the input of a call. @returns the input, or why the tool does not accept it, as a sentence for the model */
export function parseCallInput(
  tool: AnyTool,
  given: unknown,
): { readonly input: unknown } | { readonly problem: string } {
  const parsed = parseWithMessages(tool.input, given);
  if (parsed.success) return { input: parsed.data };
  const { path, message } = firstIssue(parsed.error);
  return { problem: `Wrong input for ${tool.name}: ${path === "" ? "" : `${path}: `}${message}` };
}

/** Names the keys of an input that a tool ignores, so that the model can repeat the call with the right ones; empty if there are none. */
export function ignoredNotes(tool: AnyTool, given: unknown): readonly string[] {
  const ignored = ignoredKeys(tool, given);
  if (ignored.length === 0) return [];
  const known = Object.keys(toolSpecs([tool])[0]?.inputSchema.properties ?? {}).join(", ") || "none";
  return [
    `${tool.name} ignored these unknown keys of your input: ${ignored.join(", ")}. Known keys: ${known}.`,
  ];
}
