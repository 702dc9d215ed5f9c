import { decidePermission } from "../../agent/permissions/decide.ts";
import { isOneServerTool } from "../../agent/permissions/mcp-rules.ts";
import { asksOutside } from "../../agent/permissions/outside-sandbox.ts";
import { readShellLine } from "../../agent/permissions/shell-line.ts";
import { suggestRules } from "../../agent/permissions/suggest-rules.ts";
import type { ToolAccess, ToolContext } from "../../agent/tool.ts";
import { builtinTools } from "../../agent/tools/builtin-tools.ts";
import { webFetchTool } from "../../agent/tools/web-fetch.ts";
import { homeDirectory } from "../../os/files/app-directories.ts";

export type CallPlace = Pick<ToolContext, "cwd" | "env">;

/** Returns the access of the call: `external` for a tool that the lead does not have, or for an invalid input. */
export function accessOf(name: string, input: unknown, where: CallPlace): ToolAccess {
  const tool = builtinTools().find((one) => one.name === name);
  const parsed = tool?.input.safeParse(input);
  return tool !== undefined && parsed?.success ? tool.access(parsed.data, where) : { kind: "external" };
}

/** A host name or an address. Any other text could name additional hosts in a rule. */
const HOST = /^[\p{L}\p{N}](?:[\p{L}\p{N}.:-]*[\p{L}\p{N}])?$/u;

/**
 * Returns the rules that “always” adds for another program's call; they allow exactly this call. The other program's suggestions are
 * never used: they could be any rule. Empty for a tool that we do not know, since a rule would allow its every call.
 */
export function rulesForCall(tool: string, input: unknown, where: CallPlace): readonly string[] {
  const access = accessOf(tool, input, where);
  if (access.kind === "external") return isOneServerTool(tool) ? [tool] : [];
  if (access.kind === "host") return rulesForHost(access.host);
  if (asksOutside(access)) return [];
  const { cwd, env } = where;
  const line = access.kind === "command" ? readShellLine(access.command) : undefined;
  const question = { tool, access, line, workingDirs: [cwd], home: homeDirectory(env) };
  const rules = { allow: [], ask: [], deny: [] };
  const { guarded } = decidePermission({ ...question, mode: "default", rules });
  return guarded ? [] : suggestRules(question);
}

/**
 * Returns whether allow rules cover a call, so that it would not ask again; undefined for a call that only its agent can judge, such
 * as a call that a guard asks about.
 */
export function doRulesCover(
  rules: readonly string[],
  tool: string,
  input: unknown,
  where: CallPlace,
): boolean | undefined {
  const access = accessOf(tool, input, where);
  if (access.kind === "external") return undefined;
  const { cwd, env } = where;
  const line = access.kind === "command" ? readShellLine(access.command) : undefined;
  const question = { tool, access, line, workingDirs: [cwd], home: homeDirectory(env) };
  const given = { allow: rules, ask: [], deny: [] };
  const { behavior, guarded, isOutside } = decidePermission({ ...question, mode: "default", rules: given });
  return guarded && !isOutside ? undefined : behavior === "allow";
}

/** Like {@link rulesForCall}, for another program's request to reach a host. */
export function rulesForHost(host: string): readonly string[] {
  if (!HOST.test(host)) return [];
  return suggestRules({ tool: webFetchTool.name, access: { kind: "host", host }, workingDirs: [] });
}
