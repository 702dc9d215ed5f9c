import type { McpEntry } from "../launch/mcp-entry.ts";
import { TEAM_SERVER } from "./channel.ts";

/** A server that already runs on HTTP, for a client that does not start it. */
export interface HttpEntry {
  readonly url: string;
  readonly token: string;
}

/** The configuration of one CLI for our server. */
interface McpSnippet {
  /** Where the text goes, as the person reads it. */
  readonly where: string;
  readonly format: "json" | "toml" | "yaml";
  readonly text: string;
}

/** The programs whose configuration format is known, and `json`, the format that most others read. */
export const MCP_CLIENTS = ["claude", "codex", "gemini", "goose", "opencode", "qwen", "json"] as const;
type McpClient = (typeof MCP_CLIENTS)[number];

/** Where each configuration goes, as the person reads it. */
const PLACES: Readonly<Record<McpClient, string>> = {
  claude: `a file for claude --mcp-config <file> --allowedTools mcp__${TEAM_SERVER}, or .mcp.json in the project`,
  codex: "$CODEX_HOME/config.toml (~/.codex/config.toml)",
  gemini: "~/.gemini/settings.json",
  goose: "~/.config/goose/config.yaml",
  opencode: "opencode.json",
  qwen: "~/.qwen/settings.json, or a file for qwen --mcp-config <file>",
  json: "the client's list of MCP servers",
};

/**
 * Returns the part of a CLI's configuration that adds our server. If the format allows it, the CLI does not ask before it calls
 * our tools: they act only on the team, in the member's own name.
 * @param entry how the client starts the server, or where it runs
 */
export function mcpSnippet(client: McpClient, entry: McpEntry | HttpEntry): McpSnippet {
  const where = PLACES[client];
  if (client === "codex") return { where, format: "toml", text: codexToml(entry) };
  if (client === "goose") return { where, format: "yaml", text: gooseYaml(entry) };
  const value = "url" in entry ? httpForm(client, entry) : startedForm(client, entry);
  return { where, format: "json", text: JSON.stringify(value, undefined, 2) };
}

type JsonClient = Exclude<McpClient, "codex" | "goose">;

function startedForm(client: JsonClient, { command, args, env }: McpEntry): object {
  switch (client) {
    case "claude":
      return servers({ type: "stdio", command, args, env });
    case "gemini":
    case "qwen":
      return servers({ command, args, env, trust: true });
    case "opencode":
      return openCode({ type: "local", command: [command, ...args], environment: env, enabled: true });
    case "json":
      return servers({ command, args, env });
  }
}

function httpForm(client: JsonClient, entry: HttpEntry): object {
  const { url } = entry;
  const headers = headersOf(entry);
  switch (client) {
    case "claude":
    case "json":
      return servers({ type: "http", url, headers });
    case "gemini":
    case "qwen":
      return servers({ httpUrl: url, headers, trust: true });
    case "opencode":
      return openCode({ type: "remote", url, headers, enabled: true });
  }
}

function headersOf({ token }: HttpEntry): Readonly<Record<string, string>> {
  return { Authorization: `Bearer ${token}` };
}

function servers(entry: object): object {
  return { mcpServers: { [TEAM_SERVER]: entry } };
}

function openCode(entry: object): object {
  return { mcp: { [TEAM_SERVER]: entry } };
}

function codexToml(entry: McpEntry | HttpEntry): string {
  const table = `mcp_servers.${TEAM_SERVER}`;
  const [fields, pairsName, pairs] =
    "url" in entry
      ? [[`url = ${tomlString(entry.url)}`], "http_headers", headersOf(entry)]
      : [
          [`command = ${tomlString(entry.command)}`, `args = [${entry.args.map(tomlString).join(", ")}]`],
          "env",
          entry.env,
        ];
  const lines = Object.entries(pairs).map(([name, value]) => `${tomlKey(name)} = ${tomlString(value)}`);
  return [
    `[${table}]`,
    ...fields,
    'default_tools_approval_mode = "approve"',
    `tool_timeout_sec = ${TIMEOUT_S}`,
    ...(lines.length === 0 ? [] : ["", `[${table}.${pairsName}]`, ...lines]),
  ].join("\n");
}

/** JSON values are values of YAML too. */
function gooseYaml(entry: McpEntry | HttpEntry): string {
  const fields =
    "url" in entry
      ? { type: "streamable_http", uri: entry.url, headers: headersOf(entry) }
      : { type: "stdio", cmd: entry.command, args: entry.args, envs: entry.env };
  const all = { name: TEAM_SERVER, enabled: true, ...fields, timeout: TIMEOUT_S };
  const lines = Object.entries(all).map(([name, value]) => `    ${name}: ${yamlValue(value)}`);
  return ["extensions:", `  ${TEAM_SERVER}:`, ...lines].join("\n");
}

/** Seconds that a client waits for a tool: `Wait` takes up to 300. */
const TIMEOUT_S = 330;

function yamlValue(value: unknown): string {
  return escapeDelete(JSON.stringify(value));
}

/** JSON's escapes are valid in a basic string of TOML. */
function tomlString(text: string): string {
  return escapeDelete(JSON.stringify(text));
}

/** TOML and YAML forbid the delete character, which JSON leaves as it is. */
function escapeDelete(json: string): string {
  return json.replaceAll("\x7f", "\\u007f");
}

function tomlKey(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : tomlString(name);
}
