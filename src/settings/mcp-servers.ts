import { join } from "node:path";
import { messageOf } from "../errors.ts";
import { type McpServer, mcpFile, mcpServer } from "../schema/mcp-server.ts";
import { firstIssue, parseWithMessages } from "../schema/zod-helpers.ts";
import type { Settings } from "./settings-schema.ts";
import { readSettingsText, requireUtf8 } from "./settings-text.ts";
import { confirmationsIn, type PartOfFile } from "./trust.ts";

/** The MCP servers of an agent, and the problems with those that are left out. */
interface McpConfig {
  readonly servers: Readonly<Record<string, McpServer>>;
  /** One sentence each, with the file and the server. */
  readonly problems: readonly string[];
}

/**
 * Returns the servers of the settings and, in a trusted directory, the servers of its `.mcp.json` that the user has confirmed. If both
 * have a server of the same name, the settings win. An invalid server is left out; the others stay.
 */
export function mcpConfig(root: string, cwd: string, settings: Pick<Settings, "mcpServers">): McpConfig {
  const problems: string[] = [];
  const file = join(cwd, ".mcp.json");
  const { decision, isConfirmed } = confirmationsIn(root, cwd);
  const project = decision === true ? readServers(file, problems) : {};
  const entries = [
    ...Object.entries(project)
      .filter(([name, value]) => isConfirmed(serverPart(name, value)))
      .map((entry) => [file, ...entry] as const),
    ...Object.entries(settings.mcpServers).map((entry) => ["the settings", ...entry] as const),
  ];
  const servers = new Map<string, McpServer>();
  for (const [source, name, raw] of entries) {
    const parsed = parseWithMessages(mcpServer, raw);
    if (parsed.success) servers.set(name, parsed.data);
    else {
      const { message } = firstIssue(parsed.error);
      problems.push(`the server ${JSON.stringify(name)} in ${source} is invalid (${message})`);
    }
  }
  return { servers: Object.fromEntries(servers), problems };
}

/** Returns a server of `.mcp.json` as a part that needs confirmation. */
export function serverPart(name: string, value: unknown): PartOfFile {
  return { file: ".mcp.json", label: name, key: `mcpServers.${name}`, value };
}

/** Returns the servers of a `.mcp.json`, not checked. */
export function readServers(file: string, problems: string[]): Readonly<Record<string, unknown>> {
  try {
    const text = readSettingsText(file) ?? "{}";
    requireUtf8(file, text);
    const parsed = parseWithMessages(mcpFile, JSON.parse(text));
    if (parsed.success) return parsed.data.mcpServers;
    problems.push(`${file} is invalid (${firstIssue(parsed.error).message})`);
  } catch (error) {
    problems.push(error instanceof SyntaxError ? `${file} is not JSON` : messageOf(error));
  }
  return {};
}
