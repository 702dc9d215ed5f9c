import type { PermissionRules } from "../../agent/permissions/rules.ts";
import { isReadDenied } from "../../agent/permissions/search-filter.ts";
import type { IsReadDenied } from "../../agent/prompts/memory-files.ts";
import type { Env } from "../../os/env.ts";
import { homeDirectory } from "../../os/files/app-directories.ts";

/**
 * Returns a predicate for files that must not be loaded into a prompt (memory, skills, notes), because a rule denies reading them.
 * @param denied additional deny rules
 */
export function readDenialsOf(
  { cwd, env }: { readonly cwd: string; readonly env: Env },
  { allow, ask, deny }: PermissionRules,
  denied: readonly string[],
): IsReadDenied {
  const rules = { allow, ask, deny: [...deny, ...denied] };
  return (path, base) =>
    [cwd, base].some((at) => isReadDenied(path, { rules, workingDirs: [at], home: homeDirectory(env) }));
}
