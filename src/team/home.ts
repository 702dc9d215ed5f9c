import type { Env } from "../os/env.ts";
import { rootDirectory, runtimeDirectory } from "../os/files/app-directories.ts";
import { realPathOf } from "../os/files/real-path.ts";
import { runtimeOfRoot } from "../protocol/paths.ts";
import type { Home } from "./ref.ts";

/** Root and runtime directory by the environment. Nothing is made. */
export function teamsHome(env: Env): Home {
  const root = realPathOf(rootDirectory(env));
  return { root, runtime: runtimeOfRoot(runtimeDirectory(env), root) };
}
