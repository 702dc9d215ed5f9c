import { join } from "node:path";
import type { Env } from "../../os/env.ts";
import { homeDirectory } from "../../os/files/app-directories.ts";

/** Returns the absolute path of a login; undefined if the path begins with an unset variable. */
export function loginPlace(path: string, env: Env): string | undefined {
  if (path.startsWith("~/")) return join(homeDirectory(env), path.slice(2));
  const [, name, rest = ""] = /^\$(\w+)(\/.*)?$/s.exec(path) ?? [];
  if (name === undefined) return path;
  const value = env[name];
  return value ? join(value, rest) : undefined;
}
