import { type StagedFile, stageFile } from "../os/files/atomic-write.ts";
import { readText } from "../os/files/fs.ts";
import { type Held, inQueue, type LockOptions, type LockTurn } from "./lock.ts";

/** What a file is to hold, and what the caller is told. */
export interface FileUpdate<T> {
  readonly value: T;
  /** Left out: the file stays as it is. */
  readonly content?: string | undefined;
  /** Called once the content is in its place, before the next of ours has its turn. */
  readonly written?: (() => void) | undefined;
}

/**
 * Makes a change of what a file holds now, undefined when it is not there.
 * @param isLocked whether nobody can be in the middle of writing it. Where that is false, what this throws does not count: it is
 *   called again under the lock.
 */
export type Update<T> = (text: string | undefined, isLocked: boolean) => FileUpdate<T>;

/**
 * Changes one file under its lock, and replaces it whole. All that takes time is done while only processes of ours wait: read,
 * made up and written beside it, on the disk. Then the shared lock is held for the tenth of a millisecond that it takes to
 * see that the file still says the same, and to rename. A foreign writer thus finds the lock free nearly always, however
 * many of ours queue. Where one was quicker, or the plan failed, everything is done once more, wholly under the lock.
 * @param plan may run more than once, and has no effect that must not be repeated
 * @throws TeamError LOCK_TIMEOUT, and what the plan throws under the lock; then nothing was changed
 */
export async function updateFile<T>(path: string, plan: Update<T>, options: LockOptions = {}): Promise<T> {
  const { value, staged } = await inQueue(path, (turn) => changed(path, plan, turn), options);
  staged?.settle();
  return value;
}

interface Changed<T> {
  readonly value: T;
  /** In the place of the file already; only the disk is to confirm it, which nobody needs to wait for under a lock. */
  readonly staged?: StagedFile;
}

async function changed<T>(path: string, plan: Update<T>, turn: LockTurn): Promise<Changed<T>> {
  const before = readText(path);
  const change = attempt(plan, before);
  if (change !== undefined) {
    // Compared as it reads: a change within one tick of the file system's clock shows in no time of a file.
    const isSame = (): boolean => readText(path) === before;
    const done = await put(path, change, (staged) =>
      turn.holdShared((held) => isSame() && commit(staged, held)),
    );
    if (done !== undefined) return done;
  }
  const done = await turn.holdShared((held) => {
    return put(path, plan(readText(path), true), (staged) => commit(staged, held));
  });
  return done as Changed<T>;
}

/** @returns undefined when the file had changed before; then nothing is left of what was staged */
async function put<T>(
  path: string,
  { value, content, written }: FileUpdate<T>,
  replace: (staged: StagedFile) => boolean | Promise<boolean>,
): Promise<Changed<T> | undefined> {
  if (content === undefined) return { value };
  const staged = stageFile(path, content);
  let isDone = false;
  try {
    isDone = await replace(staged);
  } finally {
    if (!isDone) staged.discard();
  }
  if (!isDone) return undefined;
  try {
    written?.();
  } catch (error) {
    staged.settle();
    throw error;
  }
  return { value, staged };
}

function commit(staged: StagedFile, held: Held): true {
  held.assertOwned();
  staged.commit();
  return true;
}

function attempt<T>(plan: Update<T>, before: string | undefined): FileUpdate<T> | undefined {
  try {
    return plan(before, false);
  } catch {
    // A foreign writer may be in the middle: what is wrong is found, and told, under the lock.
    return undefined;
  }
}
