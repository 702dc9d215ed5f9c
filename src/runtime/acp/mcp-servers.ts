import type { McpServer as ClientServer } from "@agentclientprotocol/sdk";
import { TeamError } from "../../errors.ts";
import type { McpServer } from "../../schema/mcp-server.ts";
import { MAX_SERVERS } from "./limits.ts";

/**
 * Returns the MCP servers that a client passes for its session, in the form of the settings. Variables in them are not expanded.
 * @throws TeamError INVALID_INPUT for too many, for two of one name, and for an unsupported kind
 */
export function serversOf(servers: readonly ClientServer[]): Readonly<Record<string, McpServer>> {
  if (servers.length > MAX_SERVERS)
    throw refused(`The client passed ${servers.length} MCP servers; the maximum is ${MAX_SERVERS}.`);
  const named = new Map<string, McpServer>();
  for (const server of servers) {
    const { name } = server;
    if (named.has(name)) throw refused(`Two MCP servers are called ${JSON.stringify(name)}.`);
    named.set(name, serverOf(server));
  }
  return Object.fromEntries(named);
}

function serverOf(server: ClientServer): McpServer {
  if (!("type" in server)) {
    const { command, args, env } = server;
    return { command, args, env: valuesOf(env) };
  }
  if (server.type !== "http")
    throw refused(`The MCP server ${JSON.stringify(server.name)} uses SSE, which is not supported.`);
  return { type: "http", url: server.url, headers: valuesOf(server.headers) };
}

function valuesOf(
  pairs: readonly { readonly name: string; readonly value: string }[],
): Record<string, string> {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}

function refused(message: string): TeamError {
  return new TeamError("INVALID_INPUT", `${message} No session was opened.`, {
    hint: "Change the MCP servers in the client's settings.",
  });
}
