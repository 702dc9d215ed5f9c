import type { Env } from "../../os/env.ts";
import type { McpServer } from "../../schema/mcp.ts";

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/**
 * A server with every `${NAME}` and `${NAME:-default}` in its texts replaced. Pure.
 * @throws Error that names a variable which is not set and has no default
 */
export function expandServer(server: McpServer, env: Env): McpServer {
  const text = (value: string): string => expandText(value, env);
  const all = (values: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, text(value)]));
  if ("url" in server) {
    const { url, headers } = server as Extract<McpServer, { url: string }>;
    return { ...server, type: "http", url: text(url), headers: all(headers) };
  }
  const { command, args } = server;
  return { ...server, command: text(command), args: args.map(text), env: all(server.env) };
}

function expandText(value: string, env: Env): string {
  return value.replace(VARIABLE, (_, name: string, otherwise?: string) => {
    const found = env[name] ?? otherwise;
    if (found === undefined) throw new Error(`the variable ${name} is not set`);
    return found;
  });
}
