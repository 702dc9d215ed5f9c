import type { Env } from "../os/env.ts";

/** How a client starts `teams mcp` for one member: an entry of `mcpServers`, whose form all clients share. */
export interface McpEntry {
  /** Absolute: a client may start it with another PATH. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface McpEntryOptions {
  /** The program and leading arguments that run this command line. */
  readonly program: readonly string[];
  /** The environment in which the team was found. */
  readonly env: Env;
  readonly team: string;
  readonly agent: string;
  /** The member's messages reach it in another way, which also reports that it is idle: its server has no tools for that. */
  readonly withoutInbox?: boolean;
  /** Its server adds it to the team if it is not in it. */
  readonly join?: boolean;
}

/** Variables by which `teams` finds its files; clients pass few variables to their servers. */
const PLACE_VARIABLES = ["HOME", "TEAMS_HOME", "CLAUDE_CONFIG_DIR", "XDG_RUNTIME_DIR"] as const;

/**
 * Returns the entry of a member's MCP server. An adapter passes it to the CLI that it starts, so no file of the person is
 * written. The identity is in the arguments: a client may drop variables.
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
