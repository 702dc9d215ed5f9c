import { withoutCredentials } from "../agent/command-environment.ts";
import type { AnyTool } from "../agent/tools/tool.ts";
import type { LeadContext } from "../lead/context.ts";

import { mcpConfig } from "./mcp-config.ts";
import type { Settings } from "./settings.ts";

/** The tools of the servers that count here. */
export interface McpParts {
  readonly tools: readonly AnyTool[];
  /** Ends the programs that were started. */
  close(): Promise<void>;
}

const NONE: McpParts = { tools: [], close: () => Promise.resolve() };

/**
 * Starts the servers of tools for an agent and asks each what it has.
 * @param tell says, one line for each, which cannot be had and why
 */
export async function openMcp(
  { home, cwd, env }: Pick<LeadContext, "home" | "cwd" | "env">,
  settings: Settings,
  tell: (line: string) => void,
): Promise<McpParts> {
  const { servers, flaws } = mcpConfig(home.root, cwd, settings);
  for (const flaw of flaws) tell(`no tools from it: ${flaw}`);
  if (Object.keys(servers).length === 0) return NONE;
  const { connectServers } = await import("../agent/mcp/servers.ts");
  return connectServers({
    servers,
    cwd,
    env: withoutCredentials(env),
    variables: env,
    onFailure: (server, reason) => tell(`no tools from the MCP server ${server}: ${reason}`),
  });
}
