import type { ServerTool } from "../tool.ts";

/** A tool by its name, and whose it is where it is a server's and that is known. */
export interface NamedTool {
  readonly name: string;
  readonly served?: ServerTool | undefined;
}

const PREFIX = "mcp__";

/** Whether a rule's name is one of a server or its tools. */
export function isServerName(name: string): boolean {
  return name.toLowerCase().startsWith(PREFIX);
}

/** `mcp__<server>__<tool>`, with nothing in it that a model's server refuses. */
export function serverToolName({ server, tool }: ServerTool): string {
  return plain(`${PREFIX}${server}__${tool}`);
}

function plain(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, "_");
}

/**
 * Whether a rule names a server's tool: exactly, with `mcp__<server>` as one of all that this very server has, or with `*` at its
 * end as one that begins so. The server may be called as in the settings or as in its tools' names. To what allows, a name of one
 * server is never a part of another's: of `mcp__a__*` nothing is `a__b`'s.
 * @param refuses without regard to upper and lower case, and where it is not clear whose the tool is, it is meant
 */
export function namesServerTool(rule: string, tool: NamedTool, refuses: boolean): boolean {
  const { name, served } = refuses ? lower(tool) : tool;
  const text = refuses ? rule.toLowerCase() : rule;
  const wanted = plain(text.replace(/\*$/, ""));
  if (text.endsWith("*")) return matchesStart(wanted, name, served, refuses);
  if (wanted === name) return true;
  if (served !== undefined)
    return wanted === serverToolName(served) || wanted === plain(`${PREFIX}${served.server}`);
  return name.startsWith(`${wanted}__`) && (refuses || isToolNameOnly(name.slice(wanted.length + 2)));
}

function matchesStart(
  wanted: string,
  name: string,
  served: ServerTool | undefined,
  refuses: boolean,
): boolean {
  if (!(served === undefined ? name : serverToolName(served)).startsWith(wanted)) return false;
  // Within the server's name: of all whose names begin so.
  if (refuses || !wanted.slice(PREFIX.length).includes("__")) return true;
  if (served === undefined) return isToolNameOnly(name.slice(wanted.length));
  return wanted.startsWith(`${plain(`${PREFIX}${served.server}`)}__`);
}

/** Whether the rest of a tool's name can be nothing but the tool, and no part of its server's name. */
function isToolNameOnly(rest: string): boolean {
  return !/^_|__/.test(rest);
}

function lower({ name, served }: NamedTool): NamedTool {
  return {
    name: name.toLowerCase(),
    served: served && { server: served.server.toLowerCase(), tool: served.tool.toLowerCase() },
  };
}
