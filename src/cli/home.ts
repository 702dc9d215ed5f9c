import { rootDirectory, runtimeDirectory } from "../os/directories.ts";
import type { Env } from "../os/env.ts";
import { realPathOf } from "../os/real-path.ts";
import { runtimeOfRoot } from "../protocol/paths.ts";
import type { Home } from "../team/ref.ts";

/** Root and runtime directory by the environment. Nothing is made. */
export function homeOf(env: Env): Home {
  const root = realPathOf(rootDirectory(env));
  return { root, runtime: runtimeOfRoot(runtimeDirectory(env), root) };
}
