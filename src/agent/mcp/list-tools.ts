import type { Client, Tool as Described } from "@modelcontextprotocol/client";
import * as z from "zod/mini";
import { systemCode } from "../../errors.ts";
import { shortened } from "../../text/characters/cut-text.ts";

/** Maximum pages of one tool list; far more than any server has. */
const MAX_PAGES = 50;
/** Maximum characters of a tool's name in a message to a person. */
const MAX_NAME = 80;

const page = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.optional(z.string()) });
/** The required fields of a tool. A model's server would reject every request with a tool whose input is not an object. */
const usable = z.looseObject({
  name: z.string().check(z.minLength(1)),
  description: z.optional(z.string()),
  inputSchema: z.looseObject({ type: z.literal("object") }),
});

export interface ListedTools {
  readonly tools: readonly Described[];
  /** Names of tools with an invalid description. */
  readonly malformed: readonly string[];
}

/**
 * Lists the tools of a server. The library rejects a list with one invalid tool; then each tool is checked separately.
 * @param signal ends the requests
 */
export async function listTools(client: Client, signal: AbortSignal): Promise<ListedTools> {
  // A server that declares no tools is not asked, because the library would write a warning to the terminal.
  if (client.getServerCapabilities()?.tools === undefined) return { tools: [], malformed: [] };
  try {
    return { ...(await client.listTools(undefined, { signal })), malformed: [] };
  } catch (error) {
    if (systemCode(error) !== "INVALID_RESULT") throw error;
    return splitByValidity(await everyTool(client, signal));
  }
}

async function everyTool(client: Client, signal: AbortSignal): Promise<unknown[]> {
  const all: unknown[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const { tools, nextCursor } = await client.request({ method: "tools/list", params }, page, { signal });
    all.push(...tools);
    cursor = nextCursor;
    if (cursor === undefined) break;
  }
  return all;
}

function splitByValidity(all: readonly unknown[]): ListedTools {
  const tools = all.filter((one) => usable.safeParse(one).success) as Described[];
  const malformed = all.filter((one) => !usable.safeParse(one).success).map(nameOf);
  return { tools, malformed };
}

function nameOf(one: unknown): string {
  const { name } = (one ?? {}) as { name?: unknown };
  return typeof name === "string" && name !== "" ? shortened(name, MAX_NAME) : "(unnamed)";
}
