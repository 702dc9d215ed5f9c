import { ownSecrets, redactText } from "../../os/redact.ts";
import { cutText } from "../../text/characters/cut-text.ts";
import { wellFormed } from "../../text/characters/well-formed.ts";
import { stripControls } from "../../text/terminal-text.ts";
import type { ToolResult } from "../tool.ts";

/** Longest text of a result, in characters; clients cut or refuse longer ones. */
const MAX_RESULT = 150_000;
/** Deepest nesting of a value; metadata of tasks comes from other programs. */
const MAX_DEPTH = 50;

/**
 * Returns the text of a result for an MCP client: without secrets and control characters, which a client may show in a terminal,
 * well formed, and not too long.
 */
export function cleanResult({ data, content }: ToolResult): string {
  const isJson = data !== undefined && content.startsWith("{");
  const text = isJson
    ? JSON.stringify(wellFormed(cleanValue(data, 0)), undefined, 2)
    : stripControls(content);
  const redacted = wellFormed(redactText(text, ownSecrets()));
  return cutText(redacted, MAX_RESULT, (missing) => `… [${missing}; ask for less]`);
}

/** Strips the strings and keys of a JSON value. */
function cleanValue(value: unknown, depth: number): unknown {
  if (typeof value === "string") return stripControls(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_DEPTH) return "…";
  if (Array.isArray(value)) return value.map((one) => cleanValue(one, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [stripControls(key), cleanValue(one, depth + 1)]),
  );
}
