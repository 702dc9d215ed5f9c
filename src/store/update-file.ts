import { type Appended, type StagedFile, stageFile } from "../os/files/atomic-write.ts";
import { type FileEnd, isUnchanged, readEnd } from "../os/files/file-end.ts";
import { fileSize, isMissing, readText } from "../os/files/fs.ts";
import { type Group, PostedChange, recordGroup, takeWaiting, type WaitingChange } from "./group-commit.ts";
import { type Held, inQueue, LockLost, type LockOptions, type LockTurn } from "./lock.ts";

/** The new content of a file, and the result for the caller. */
export interface FileUpdate<T> {
  readonly value: T;
  /** Omitted: the file stays as it is. */
  readonly content?: string | Appended | undefined;
  /** Called once the content is in place, before the next of our processes has its turn. */
  readonly written?: (() => void) | undefined;
}

/**
 * Computes a file's update from its text, undefined if there is no such file.
 * @param isLocked false if a foreign writer may be in the middle of a write. An error is then ignored: the function is called
 *   again under the shared lock.
 * @param waiting the changes of other processes, as their {@link Offer} gave them. New content must contain them all.
 */
export type Update<T> = (
  text: string | undefined,
  isLocked: boolean,
  waiting: readonly string[],
) => FileUpdate<T>;

/** The part of one process in a group commit: while it waits, the holder of the queue may make its change. */
export interface Offer<T> {
  /** Returns the change for another process, or undefined if only this process can make it. Called once. */
  text(): string | undefined;
  /** Returns whether a text is the whole change of another process. */
  accepts(text: string): boolean;
  /** Called instead of the update once another process has made the change. @returns the result for the caller */
  made(): T;
}

/** Updates a large file without reading all of it. */
export interface EndUpdate<T> {
  /** Minimum size in bytes of a file for which this update is tried first. */
  readonly from: number;
  /** Returns whether this update is possible at all; called only for a file of that size. */
  readonly applies?: () => boolean;
  /** @returns undefined if the update needs the whole text */
  readonly update: (end: FileEnd, waiting: readonly string[]) => FileUpdate<T> | undefined;
}

export interface UpdateOptions<T> extends LockOptions {
  readonly offer?: Offer<T> | undefined;
  readonly atEnd?: EndUpdate<T> | undefined;
  /** Called once other processes can have their turn, while this one syncs the new name to disk. */
  readonly visible?: (() => void) | undefined;
}

/**
 * Replaces one file under its lock. Reading, computing and writing the new content to the disk take place in our queue
 * alone. The shared lock is then held for a tenth of a millisecond: to check that the file is unchanged, and to rename. So
 * foreign writers nearly always find the lock free, however many of our processes queue. If the file has changed, or the
 * update threw, everything is done once more under the shared lock.
 * @param update may run more than once, so it must have no effect that must not be repeated
 * @throws TeamError LOCK_TIMEOUT, and what the update throws under the lock; the file is then unchanged
 */
export async function updateFile<T>(
  path: string,
  update: Update<T>,
  { offer, atEnd, visible, ...options }: UpdateOptions<T> = {},
): Promise<T> {
  const posted = new PostedChange(path);
  const instead = offer && whileWaiting(posted, offer);
  const made: { updated?: Updated<T> } = {};
  const turnWork = async (turn: LockTurn): Promise<Updated<T>> => {
    made.updated = await updateInTurn(path, turn, { update, offer, atEnd, posted });
    return made.updated;
  };
  try {
    const { value, staged, isSettled } = await inQueue(path, turnWork, { ...options, instead });
    if (staged !== undefined) visible?.();
    if (!isSettled) staged?.settle();
    return value;
  } catch (error) {
    // The change is made, but the lock of the queue could not be released.
    made.updated?.staged?.settle();
    if (offer !== undefined && posted.abandon()) return offer.made();
    throw error;
  }
}

/** Posts the change after the first failed attempt. After each later one, checks whether another process has made it. */
function whileWaiting<T>(posted: PostedChange, offer: Offer<T>) {
  let isAsked = false;
  return (): { readonly value: Updated<T> } | undefined => {
    if (posted.isMade()) return { value: { value: offer.made() } };
    if (isAsked) return undefined;
    isAsked = true;
    const text = offer.text();
    if (text !== undefined) posted.post(text);
    return undefined;
  };
}

interface Updated<T> {
  readonly value: T;
  /** Already renamed. Only the directory remains to be synced, which needs no lock. */
  readonly staged?: StagedFile;
  readonly group?: Group | undefined;
  /** The directory is synced too: the processes of a group learn only then that their changes are in the file. */
  readonly isSettled?: boolean;
}

interface Work<T> extends Pick<UpdateOptions<T>, "offer" | "atEnd"> {
  readonly update: Update<T>;
  readonly posted: PostedChange;
}

async function updateInTurn<T>(path: string, turn: LockTurn, work: Work<T>): Promise<Updated<T>> {
  const { offer, posted } = work;
  const waiting = offer === undefined ? [] : takeWaiting(path, offer.accepts, posted);
  if (waiting === undefined) return { value: (offer as Offer<T>).made() };
  if (waiting.length > 0) turn.noteWaiting();
  const updated =
    (await appendInTurn(path, turn, work, waiting)) ?? (await replaceInTurn(path, turn, work, waiting));
  if (updated.group === undefined) return updated;
  finish(updated);
  return { ...updated, isSettled: true };
}

async function replaceInTurn<T>(
  path: string,
  turn: LockTurn,
  { update }: Work<T>,
  waiting: readonly WaitingChange[],
): Promise<Updated<T>> {
  const texts = waiting.map(({ text }) => text);
  const before = readText(path);
  const early = tryUpdate(() => update(before, false, texts));
  if (early !== undefined) {
    // The text is compared: a change within one tick of the file system's clock does not show in a file's times.
    const updated = await replace(path, early, waiting, (commit) =>
      turn.holdShared((held) => readText(path) === before && commit(held)),
    );
    if (updated !== undefined) return updated;
  }
  let updated: Updated<T> | undefined;
  try {
    await turn.holdShared(async (held) => {
      updated = await replace(path, update(readText(path), true, texts), waiting, (commit) => commit(held));
    });
  } catch (error) {
    // The lock could not be released, but the change is made.
    if (updated !== undefined) finish(updated);
    throw error;
  }
  return updated as unknown as Updated<T>;
}

/** Syncs the new name, and notifies the processes of the group that their changes are in the file. */
function finish({ staged, group }: Pick<Updated<unknown>, "staged" | "group">): void {
  staged?.settle();
  group?.confirm();
}

/** Updates a large file by its end alone. @returns undefined if that is impossible, or the file has changed meanwhile */
async function appendInTurn<T>(
  path: string,
  turn: LockTurn,
  { atEnd }: Work<T>,
  waiting: readonly WaitingChange[],
): Promise<Updated<T> | undefined> {
  if (atEnd === undefined || (fileSize(path) ?? 0) < atEnd.from) return undefined;
  const end = atEnd.applies?.() === false ? undefined : readEnd(path);
  if (end === undefined) return undefined;
  const texts = waiting.map(({ text }) => text);
  const plan = tryUpdate(() => atEnd.update(end, texts));
  return (
    plan &&
    replace(path, plan, waiting, (commit, staged) =>
      turn.holdShared((held) => isUnchanged(path, end, staged.temporary) && commit(held)),
    )
  );
}

function tryUpdate<T>(update: () => T): T | undefined {
  try {
    return update();
  } catch {
    // A foreign writer may be in the middle of a write. A real error occurs again under the lock.
    return undefined;
  }
}

/** Makes the staged content visible, under the shared lock. */
type Commit = (held: Held) => true;

/** @returns undefined if `committed` returned false; nothing staged is left then */
async function replace<T>(
  path: string,
  { value, content, written }: FileUpdate<T>,
  waiting: readonly WaitingChange[],
  committed: (commit: Commit, staged: StagedFile) => boolean | Promise<boolean>,
): Promise<Updated<T> | undefined> {
  if (content === undefined) return { value };
  const staged = stageFile(path, content);
  let group: Group | undefined;
  let isRenamed = false;
  let failure: { readonly error: unknown } | undefined;
  try {
    group = waiting.length > 0 ? recordGroup(path, staged.temporary, waiting) : undefined;
    await committed((held) => {
      commit(staged, group, held);
      isRenamed = true;
      return true;
    }, staged);
  } catch (error) {
    if (!isRenamed) throw error;
    // The lock could not be released. The change is made: its group must learn that, or each process would make its change again.
    failure = { error };
  } finally {
    if (!isRenamed) {
      group?.drop();
      staged.discard();
    }
  }
  if (!isRenamed) return undefined;
  try {
    written?.();
    if (failure !== undefined) throw failure.error;
  } catch (error) {
    finish({ staged, group });
    throw error;
  }
  return { value, staged, group };
}

function commit(staged: StagedFile, group: Group | undefined, held: Held): void {
  held.assertOwned();
  if (group?.isWhole() === false) throw new LockLost("A process of the group has given up waiting.");
  try {
    staged.commit();
  } catch (error) {
    if (group === undefined || !isMissing(error)) throw error;
    throw new LockLost("Another process has voided the group.");
  }
}
