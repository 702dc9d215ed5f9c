import { createHash } from "node:crypto";
import type { Tool as Described } from "@modelcontextprotocol/client";
import * as z from "zod/mini";
import { defined } from "../../schema/defined.ts";
import { isNestedTooDeeply } from "../../schema/guards/nesting.ts";
import { cutText, textStart } from "../../text/characters/cut-text.ts";
import { wellFormed } from "../../text/characters/well-formed.ts";
import { serverToolName } from "../permissions/mcp-rules.ts";
import type { AnyTool, ToolResult } from "../tool.ts";

/** Maximum characters of a tool's name that a model's server accepts. */
const MAX_NAME = 64;
/** Maximum characters of a description, because each model call pays for it. */
const MAX_DESCRIPTION = 2_000;

/** Maximum characters of structured data that is kept with an answer. */
const MAX_DATA = 100_000;

/** The fields of a server's answer that are used. */
const callAnswer = z.looseObject({
  content: z._default(z.array(z.looseObject({ type: z.string() })), []),
  structuredContent: z.optional(z.unknown()),
  isError: z.optional(z.boolean()),
});

/** Calls a server's tool by the name that the server knows. */
type CallTool = (
  name: string,
  input: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
) => Promise<unknown>;

/** Returns `mcp__<server>__<tool>`, limited to the characters that a model's server accepts. A long name ends in a hash. */
export function mcpToolName(server: string, tool: string): string {
  const plain = serverToolName({ server, tool });
  if (plain.length <= MAX_NAME) return plain;
  const hash = createHash("sha256").update(`${server}\0${tool}`).digest("hex").slice(0, 8);
  return `${textStart(plain, MAX_NAME - hash.length - 1)}_${hash}`;
}

/**
 * Wraps a server's tool as a tool of an agent. The server's own claims (read-only, harmless) are not trusted: only a rule of the
 * user allows the tool unasked.
 */
export function mcpTool(server: string, described: Described, call: CallTool): AnyTool {
  const { name, description = "", inputSchema: given } = described;
  const { inputSchema, conditions } = splitSchema(given as Readonly<Record<string, unknown>>);
  return {
    name: mcpToolName(server, name),
    description: cutText(`${description}${conditions}`, MAX_DESCRIPTION),
    input: z.record(z.string(), z.unknown()),
    inputSchema,
    served: { server, tool: name },
    access: () => ({ kind: "external" }),
    execute: async (input: Record<string, unknown>, { signal }) =>
      toolResult(await call(name, wellFormed(input), signal)),
    summary: (input: Record<string, unknown>) => JSON.stringify(input),
  };
}

/**
 * Splits off the conditions at the top of an input schema, because the Messages API refuses every request with such a condition. The
 * model reads them in the description, and the MCP server still checks them.
 */
function splitSchema({ oneOf, anyOf, allOf, ...inputSchema }: Readonly<Record<string, unknown>>): {
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly conditions: string;
} {
  const conditions = defined({ oneOf, anyOf, allOf });
  const isPlain = Object.keys(conditions).length === 0;
  return {
    inputSchema,
    conditions: isPlain ? "" : `\n\nThe input must also match ${JSON.stringify(conditions)}`,
  };
}

/** Converts an answer for the model: its texts, and a short description of all other content. */
export function toolResult(answer: unknown): ToolResult {
  const parsed = callAnswer.safeParse(answer);
  if (!parsed.success)
    return { content: "The server's answer is not valid in the MCP protocol.", isError: true };
  const { content, structuredContent, isError = false } = parsed.data;
  if (isNestedTooDeeply(structuredContent))
    return { content: "The server's answer is nested too deeply to be used.", isError: true };
  const texts = content.map(textOfBlock).filter((text) => text !== "");
  const text =
    texts.length === 0 && structuredContent !== undefined
      ? JSON.stringify(structuredContent)
      : texts.join("\n");
  return {
    content: text === "" ? "(The tool returned nothing.)" : text,
    isError,
    ...(structuredContent === undefined || isLong(structuredContent) ? {} : { data: structuredContent }),
  };
}

/** Data is kept with the text in the conversation, and has the same limit as the text. */
function isLong(value: unknown): boolean {
  return JSON.stringify(value).length > MAX_DATA;
}

function textOfBlock(block: Readonly<Record<string, unknown>>): string {
  if (block.type === "text" && typeof block.text === "string") return block.text;
  if (block.type === "resource_link") return `${block.name ?? ""} ${block.uri ?? ""}`.trim();
  if (block.type === "resource") {
    const { text, uri } = (block.resource ?? {}) as { text?: unknown; uri?: unknown };
    return typeof text === "string" ? text : `[resource ${String(uri)}, which is not text, is not shown]`;
  }
  const bytes = typeof block.data === "string" ? `, ${Math.floor((block.data.length * 3) / 4)} bytes` : "";
  return `[${block.type}${bytes}, not shown]`;
}
