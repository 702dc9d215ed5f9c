import { join } from "node:path";
import { systemCode } from "../errors.ts";
import { readText } from "../os/files/fs.ts";
import { pathStat } from "../os/files/user-files.ts";
import { type McpServer, mcpFile, mcpServer } from "../schema/mcp-server.ts";
import { firstIssue, parseInWords } from "../schema/zod-helpers.ts";
import type { Settings } from "./settings-schema.ts";
import { trustIn } from "./trust.ts";

/** The servers of tools that count for an agent, and what is wrong with others. */
interface McpConfig {
  readonly servers: Readonly<Record<string, McpServer>>;
  /** One sentence each, which names the file and the server. */
  readonly flaws: readonly string[];
}

/** Bytes: a repository can bring a link to what never ends. */
const MAX_FILE = 1024 * 1024;

/**
 * The servers of the settings and, in a directory that a person has trusted, of its `.mcp.json`; of one name the settings'
 * counts. A server that is not described as it should be takes no other with it.
 */
export function mcpConfig(root: string, cwd: string, settings: Pick<Settings, "mcpServers">): McpConfig {
  const flaws: string[] = [];
  const file = join(cwd, ".mcp.json");
  const project = trustIn(root, cwd) === true ? readServers(file, flaws) : {};
  const entries = [
    ...Object.entries(project).map((entry) => [file, ...entry] as const),
    ...Object.entries(settings.mcpServers).map((entry) => ["settings", ...entry] as const),
  ];
  const servers = new Map<string, McpServer>();
  for (const [source, name, raw] of entries) {
    const parsed = parseInWords(mcpServer, raw);
    if (parsed.success) servers.set(name, parsed.data);
    else flaws.push(`${source}: the server ${JSON.stringify(name)}: ${firstIssue(parsed.error).message}`);
  }
  return { servers: Object.fromEntries(servers), flaws };
}

function readServers(file: string, flaws: string[]): Readonly<Record<string, unknown>> {
  try {
    const { kind, size } = pathStat(file);
    if (kind === "missing") return {};
    if (kind !== "file" || size > MAX_FILE) throw new Error("is not a file of servers");
    const parsed = parseInWords(mcpFile, JSON.parse(readText(file) ?? "{}"));
    if (parsed.success) return parsed.data.mcpServers;
    flaws.push(`${file}: ${firstIssue(parsed.error).message}`);
  } catch (error) {
    const why =
      error instanceof SyntaxError ? "is not JSON" : (systemCode(error) ?? (error as Error).message);
    flaws.push(`${file}: ${why}`);
  }
  return {};
}
