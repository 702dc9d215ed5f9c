import type { Client, Tool as Described } from "@modelcontextprotocol/client";
import * as z from "zod/mini";
import { systemCode } from "../../errors.ts";

/** Pages of one list: far more than any server has. */
const MAX_PAGES = 50;
/** Characters of a name that is told to a person. */
const MAX_NAME = 80;

const page = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.optional(z.string()) });
/** What is needed of a tool; without an object for its input every request of a model would be refused. */
const usable = z.looseObject({
  name: z.string().check(z.minLength(1)),
  description: z.optional(z.string()),
  inputSchema: z.looseObject({ type: z.literal("object") }),
});

export interface ListedTools {
  readonly tools: readonly Described[];
  /** Names of those that are described as no tool is. */
  readonly malformed: readonly string[];
}

/** The tools of a server. The library takes a list whole or not at all; where it does not, each tool is looked at by itself. */
export async function listTools(client: Client, timeout: number): Promise<ListedTools> {
  // One that says of itself that it has none is not asked, about which the library would write to the terminal.
  if (client.getServerCapabilities()?.tools === undefined) return { tools: [], malformed: [] };
  try {
    return { ...(await client.listTools(undefined, { timeout })), malformed: [] };
  } catch (error) {
    if (systemCode(error) !== "INVALID_RESULT") throw error;
    return splitByValidity(await everyTool(client, timeout));
  }
}

async function everyTool(client: Client, timeout: number): Promise<unknown[]> {
  const all: unknown[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const { tools, nextCursor } = await client.request({ method: "tools/list", params }, page, { timeout });
    all.push(...tools);
    cursor = nextCursor;
    if (cursor === undefined) break;
  }
  return all;
}

function splitByValidity(all: readonly unknown[]): ListedTools {
  const tools = all.filter((one) => usable.safeParse(one).success) as Described[];
  const flawed = all.filter((one) => !usable.safeParse(one).success).map(nameOf);
  return { tools, malformed: flawed };
}

function nameOf(one: unknown): string {
  const { name } = (one ?? {}) as { name?: unknown };
  return typeof name === "string" && name !== "" ? name.slice(0, MAX_NAME) : "without a name";
}
