import { join } from "node:path";
import type { Env } from "../../os/env.ts";
import { homeDirectory } from "../../os/files/app-directories.ts";

/** @returns a path of a login, absolute; undefined if it begins with a variable that is not set */
export function loginPlace(path: string, env: Env): string | undefined {
  if (path.startsWith("~/")) return join(homeDirectory(env), path.slice(2));
  const [, name, rest = ""] = /^\$(\w+)(\/.*)?$/s.exec(path) ?? [];
  if (name === undefined) return path;
  const value = env[name];
  return value ? join(value, rest) : undefined;
}
