import { SNAPSHOT_VARIABLE } from "../lead/shell-snapshot.ts";
import type { Env } from "../os/env.ts";
import { entryOf } from "../os/fs.ts";

/** The shell snapshot of the batch that this agent was spawned in, once it is whole. */
export function snapshotOf(env: Env): () => string | undefined {
  const file = env[SNAPSHOT_VARIABLE];
  return () => (file !== undefined && entryOf(file) !== undefined ? file : undefined);
}
