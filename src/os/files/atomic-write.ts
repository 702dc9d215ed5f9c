import {
  chmodSync,
  close,
  closeSync,
  constants,
  fsync,
  fsyncSync,
  linkSync,
  mkdtempSync,
  open,
  openSync,
  renameSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import { messageOf, systemCode, systemErrorCode, TeamError } from "../../errors.ts";
import {
  copyToNew,
  isMissing,
  makePrivateDir,
  namingPath,
  PRIVATE_DIR,
  PRIVATE_FILE,
  replaceEnd,
  temporaryBeside,
  writeNew,
} from "./fs.ts";

interface WriteOptions {
  /** Mode of the new file, regardless of the umask; default 0600. `umask` applies the umask, for a file of the user. */
  readonly mode?: number | "umask";
  /** Waits until the content and the name are on disk; default true. */
  readonly sync?: boolean;
  /** Called immediately before the rename; if it throws, the old file stays in place. */
  readonly beforeRename?: () => void;
}

/**
 * Replaces a file atomically (write, fsync, rename): a reader without a lock sees either the old or the new content, and
 * so does a reader after a crash.
 * @throws a system error if nothing was replaced; TeamError STORAGE_ERROR or PERMISSION_DENIED if the file was replaced, but
 * fsync failed
 */
export function replaceFile(path: string, content: string | Uint8Array, options: WriteOptions = {}): void {
  const next = stageFile(path, content, options);
  try {
    options.beforeRename?.();
    next.commit();
  } catch (error) {
    next.discard();
    throw error;
  }
  next.settle();
}

/** The content of a file that begins as another file does: the system copies that part, or shares its blocks. */
export interface Appended {
  /** Number of bytes to keep of the file that is replaced. */
  readonly keep: number;
  readonly more: string;
}

/** The complete next content of a file, in a temporary file next to it: one rename makes it visible. */
export interface StagedFile {
  /** The path of the temporary file. */
  readonly temporary: string;
  /** Renames it over the file. Takes microseconds, and needs neither the disk nor a free descriptor. */
  commit(): void;
  /**
   * Puts the new name on disk. Call it after `commit`, once any lock is released.
   * @throws TeamError STORAGE_ERROR or PERMISSION_DENIED if fsync fails; the new content is visible anyway
   */
  settle(): void;
  /** Removes the temporary file, instead of `commit` and `settle`. Idempotent. */
  discard(): void;
}

/** Writes the next content of a file into a temporary file. On failure the file is unchanged, and the temporary file is removed. */
export function stageFile(
  path: string,
  content: string | Uint8Array | Appended,
  { mode = PRIVATE_FILE, sync = true }: WriteOptions = {},
): StagedFile {
  const temporary = temporaryBeside(path);
  let directory: number | undefined;
  try {
    if (typeof content === "object" && "keep" in content) copyAndAppend(path, temporary, content);
    else writeNew(temporary, content, mode, sync);
    // Opened before the rename, because a later failure could not be undone.
    directory = sync ? openSync(dirname(path), constants.O_RDONLY) : undefined;
  } catch (error) {
    rmSync(temporary, { force: true });
    throw namingPath(error, path);
  }
  let old = holdContent(path);
  const closeAll = (): void => {
    if (directory !== undefined) closeSync(directory);
    if (old !== undefined) closeLater(old);
    directory = undefined;
    old = undefined;
  };
  return {
    temporary,
    commit: () => renameSync(temporary, path),
    settle: () => {
      try {
        if (directory !== undefined) syncDirectory(directory);
      } catch (error) {
        throw notConfirmed(path, error);
      } finally {
        closeAll();
      }
    },
    discard: () => {
      rmSync(temporary, { force: true });
      closeAll();
    },
  };
}

/** Copies inside the system: no byte of the kept part passes through this process. */
function copyAndAppend(path: string, temporary: string, { keep, more }: Appended): void {
  copyToNew(path, temporary);
  replaceEnd(temporary, keep, more);
}

/**
 * Keeps the old content of a file open until after the rename. Freeing its blocks takes a millisecond on a file system
 * mounted with `discard`; this delays it until the rename is done and the lock around it is released.
 */
function holdContent(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch {
    // The file is missing, or no descriptor is left: then the rename may take a millisecond.
    return undefined;
  }
}

/** Maximum number of descriptors being closed in Node's thread pool: the size of the pool, so they never pile up. */
const MAX_CLOSING = 4;
let closing = 0;

function closeLater(fd: number): void {
  if (closing >= MAX_CLOSING) {
    closeSync(fd);
    return;
  }
  closing += 1;
  close(fd, () => {
    // An error loses nothing: the descriptor was opened for reading.
    closing -= 1;
  });
}

function syncDirectory(fd: number): void {
  try {
    fsyncSync(fd);
  } catch (error) {
    if (!isUnsupported(error)) throw error;
  }
}

/**
 * Puts the names in a directory on disk, such as the name of a file that a dead process renamed.
 * @throws a system error
 */
export function syncNames(directory: string): void {
  const fd = openSync(directory, constants.O_RDONLY);
  try {
    syncDirectory(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Puts the name of a renamed file on disk.
 * @throws TeamError STORAGE_ERROR or PERMISSION_DENIED if fsync fails; the file has its new name anyway
 */
export function confirmName(path: string): void {
  try {
    syncNames(dirname(path));
  } catch (error) {
    throw notConfirmed(path, error);
  }
}

/**
 * Syncs a file that was replaced without sync, and its name. Runs in Node's thread pool: this process continues meanwhile.
 * Does nothing if the file is missing.
 * @throws TeamError STORAGE_ERROR or PERMISSION_DENIED if fsync fails; the content is visible anyway
 */
export async function syncFile(path: string): Promise<void> {
  try {
    if (await syncInBackground(path)) await syncInBackground(dirname(path));
  } catch (error) {
    throw notConfirmed(path, error);
  }
}

/** @returns false if there is no such file or directory */
function syncInBackground(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    open(path, constants.O_RDONLY | constants.O_NONBLOCK, (failure, fd) => {
      if (failure !== null) {
        if (isMissing(failure)) resolve(false);
        else reject(failure);
        return;
      }
      fsync(fd, (error) => {
        close(fd, () => {
          if (error === null || isUnsupported(error)) resolve(true);
          else reject(error);
        });
      });
    });
  });
}

/** Some file systems (network, FUSE) do not support fsync of a directory: they write names on their own. */
function isUnsupported(error: unknown): boolean {
  const code = systemCode(error);
  return code === "EINVAL" || code === "ENOTSUP" || code === "EOPNOTSUPP";
}

function notConfirmed(path: string, error: unknown): TeamError {
  return new TeamError(
    systemErrorCode(error),
    `${path} was written but could not be synced to disk (${messageOf(error)}).`,
    {
      hint: "Check the disk before you retry; the change is lost only if the machine crashes.",
      cause: error,
    },
  );
}

/**
 * Creates a directory and its missing parents below `base`, each 0700, but never `base` itself: a late writer must
 * not restore a deleted directory.
 * @throws a system error ENOENT if `base` does not exist
 */
export function makeDirBelow(base: string, path: string): void {
  let current = base;
  for (const part of relative(base, path).split(sep).filter(Boolean)) {
    current = join(current, part);
    makePrivateDir(current);
  }
}

/**
 * Creates a file with its whole content atomically: a reader never sees a part of it.
 * @returns false if the name is taken
 */
export function createWhole(path: string, content: string | Uint8Array): boolean {
  const temporary = temporaryBeside(path);
  try {
    writeNew(temporary, content);
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw namingPath(error, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Creates a private directory (0700) in the system's temporary directory; the caller must remove it. */
export function createTemporaryDirectory(prefix: string): string {
  const path = mkdtempSync(join(tmpdir(), prefix));
  // mkdtemp applies the umask to 0700.
  chmodSync(path, PRIVATE_DIR);
  return path;
}

/** Formats JSON as other programs do: two spaces, no newline at the end. Loads no zod. */
export function formatJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}
