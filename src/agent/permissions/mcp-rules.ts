import type { ServerTool } from "../tool.ts";

/** The name of a tool, and its MCP server if that is known. */
export interface NamedTool {
  readonly name: string;
  readonly served?: ServerTool | undefined;
}

const PREFIX = "mcp__";

/** Returns whether the tool part of a rule names an MCP server or its tools. */
export function isServerName(name: string): boolean {
  return name.toLowerCase().startsWith(PREFIX);
}

/** Returns `mcp__<server>__<tool>`, limited to the characters that the Messages API accepts. */
export function serverToolName({ server, tool }: ServerTool): string {
  return plain(`${PREFIX}${server}__${tool}`);
}

/**
 * Returns whether a name certainly belongs to one tool of one server, so that it can be suggested as a rule. The name of a server
 * alone would allow all of its tools.
 */
export function isOneServerTool(name: string): boolean {
  return /^mcp__[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*__[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*$/.test(name);
}

function plain(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, "_");
}

/**
 * Returns whether a rule names a tool of an MCP server: by its exact name, by `mcp__<server>` for all tools of exactly that
 * server, or by a prefix before `*`. The server may be named as in the settings or as in its tools' names. An allow rule for
 * one server never covers another server: `mcp__a__*` covers no tool of the server `a__b`.
 * @param refuses true for deny and ask rules: case is ignored, and the rule also covers tools whose server is ambiguous
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
  // The prefix ends inside the server's name, so it covers every server whose name begins with it.
  if (refuses || !wanted.slice(PREFIX.length).includes("__")) return true;
  if (served === undefined) return isToolNameOnly(name.slice(wanted.length));
  return wanted.startsWith(`${plain(`${PREFIX}${served.server}`)}__`);
}

/** Returns whether the rest of a name is certainly the tool alone, without a part of its server's name. */
function isToolNameOnly(rest: string): boolean {
  return !/^_|__/.test(rest);
}

function lower({ name, served }: NamedTool): NamedTool {
  return {
    name: name.toLowerCase(),
    served: served && { server: served.server.toLowerCase(), tool: served.tool.toLowerCase() },
  };
}
