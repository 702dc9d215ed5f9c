import type { PermissionRules } from "../../agent/permissions/rules.ts";
import { isReadDenied } from "../../agent/permissions/search-filter.ts";
import type { IsReadDenied } from "../../agent/prompts/memory-files.ts";
import type { Env } from "../../os/env.ts";

/**
 * Which files are kept from a model that would read them before any call of a tool.
 * @param denied by rules beside those
 */
export function readDenialsOf(
  { cwd, env }: { readonly cwd: string; readonly env: Env },
  { allow, ask, deny }: PermissionRules,
  denied: readonly string[],
): IsReadDenied {
  const rules = { allow, ask, deny: [...deny, ...denied] };
  return (path, base) =>
    [cwd, base].some((at) => isReadDenied(path, { rules, workingDirs: [at], home: env.HOME }));
}
