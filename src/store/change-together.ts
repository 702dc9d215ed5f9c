/** Returns undefined for no change. May run more than once, so it must have no effect that must not be repeated. */
type Change<T> = (current: T) => T | undefined;

/**
 * Applies the waiting changes one after the other.
 * @param isLocked false if a foreign writer may be in the middle of a write: an error is then thrown, so that all run again
 */
export type TogetherChanges<T> = (current: T, isLocked: boolean) => T | undefined;

interface Waiting {
  readonly change: Change<unknown>;
  /** The error of the change in the last run. */
  failure?: { readonly error: unknown };
}

interface Batch {
  readonly waiting: Waiting[];
  readonly written: Promise<unknown>;
}

/** Changes of this process that wait for a file's lock, by the path of the file. */
const batches = new Map<string, Batch>();

/**
 * Makes a change in one write with the other changes of this process that wait for the same file. Each change sees the content that
 * the earlier ones made, in the order of the calls; the error of one does not affect the others.
 * @param write writes the changes under the file's lock; only the function of the first waiting caller is used
 * @returns the file's content afterwards
 * @throws the change's own error, and errors of `write`
 */
export async function changeTogether<T>(
  path: string,
  change: Change<T>,
  write: (changes: TogetherChanges<T>) => Promise<T>,
): Promise<T> {
  const mine: Waiting = { change: change as Change<unknown> };
  const open = batches.get(path);
  open?.waiting.push(mine);
  const written = (open?.written as Promise<T> | undefined) ?? begin(path, mine, write);
  const content = await written;
  if (mine.failure !== undefined) throw mine.failure.error;
  return content;
}

function begin<T>(
  path: string,
  first: Waiting,
  write: (changes: TogetherChanges<T>) => Promise<T>,
): Promise<T> {
  const waiting = [first];
  const close = (): void => {
    if (batches.get(path)?.waiting === waiting) batches.delete(path);
  };
  const written = write((current, isLocked) => {
    // A change that comes during the write belongs to the next batch.
    close();
    return changeAll(waiting, current, isLocked);
  });
  batches.set(path, { waiting, written });
  return written.finally(close);
}

function changeAll<T>(waiting: readonly Waiting[], current: T, isLocked: boolean): T | undefined {
  let next: T | undefined;
  for (const one of waiting) {
    delete one.failure;
    try {
      next = (one.change(next ?? current) as T | undefined) ?? next;
    } catch (error) {
      if (!isLocked) throw error;
      one.failure = { error };
    }
  }
  return next;
}
