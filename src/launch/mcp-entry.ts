import type { Env } from "../os/env.ts";

/** How a client starts `teams mcp` for one member: an entry of `mcpServers`, whose form all clients share. */
export interface McpEntry {
  /** Absolute: a client may start it with another PATH. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

interface McpEntryOptions {
  /** The program and leading arguments that run this command line. */
  readonly program: readonly string[];
  /** The environment from which the team was resolved. */
  readonly env: Env;
  readonly team: string;
  readonly agent: string;
  /** True if another channel delivers the member's messages and reports when it is idle: its server then has no tools for these. */
  readonly withoutInbox?: boolean;
  /** True if its server adds the member to the team when it is not yet in it. */
  readonly join?: boolean;
}

/** Variables by which `teams` finds its files; clients pass few variables to their servers. */
const PLACE_VARIABLES = ["HOME", "TEAMS_HOME", "CLAUDE_CONFIG_DIR", "XDG_RUNTIME_DIR"] as const;

/**
 * Returns the entry of a member's MCP server. An adapter passes it to the CLI that it starts, so none of the user's files is
 * changed. The identity is in the arguments: a client may drop variables.
 */
export function mcpEntry(options: McpEntryOptions): McpEntry {
  const { program, env, team, agent, withoutInbox = false, join = false } = options;
  const [command = "teams", ...leading] = program;
  const identity = ["--team", team, "--as", agent, ...(join ? ["--join"] : [])];
  return {
    command,
    args: [...leading, "mcp", ...identity, ...(withoutInbox ? ["--without-inbox"] : [])],
    env: Object.fromEntries(
      PLACE_VARIABLES.flatMap((name) => {
        const value = env[name];
        return value ? [[name, value]] : [];
      }),
    ),
  };
}
