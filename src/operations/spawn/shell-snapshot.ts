import { snapshotFile, takeSnapshot } from "../../launch/shell-snapshot.ts";
import type { Env } from "../../os/env.ts";
import { entryOf } from "../../os/files/fs.ts";
import type { OperationContext } from "../context.ts";

/** Says to an agent where its shell commands find the user's shell environment. */
export const SNAPSHOT_VARIABLE = "TEAMS_SNAPSHOT";

export interface ShellSnapshot {
  /** Known before it is there: until then, commands run without it. */
  readonly file: string;
  /** Takes it, once. @returns when it is whole, or given up. Never rejects. */
  take(): Promise<unknown>;
}

/** A lead that stays takes one for all that it spawns: its environment does not change. */
const planned = new WeakMap<OperationContext, ShellSnapshot>();

/** The capture of the user's shell for a lead's spawns, to be taken once they run: a slow start-up file keeps nobody waiting. */
export function shellSnapshot(ctx: OperationContext): ShellSnapshot | undefined {
  const before = planned.get(ctx);
  if (before !== undefined) return before;
  const { env } = ctx;
  const shell = env.SHELL ?? "/bin/bash";
  const options = { root: ctx.home.root, shell, env, now: ctx.clock.now() };
  const file = snapshotFile(options);
  if (file === undefined) return undefined;
  let taken: Promise<unknown> | undefined;
  const take = (): Promise<unknown> => {
    // A shell that fails leaves no file, and its absence is what an agent sees.
    taken ??= takeSnapshot({ ...options, file }).catch(() => undefined);
    return taken;
  };
  const snapshot = { file, take };
  planned.set(ctx, snapshot);
  return snapshot;
}

export function snapshotVariable(snapshot: ShellSnapshot | undefined): Env {
  return snapshot === undefined ? {} : { [SNAPSHOT_VARIABLE]: snapshot.file };
}

/** The shell snapshot of the batch that this agent was spawned in, once it is whole. */
export function snapshotOf(env: Env): () => string | undefined {
  const file = env[SNAPSHOT_VARIABLE];
  return () => (file !== undefined && entryOf(file) !== undefined ? file : undefined);
}
