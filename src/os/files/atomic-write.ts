import {
  chmodSync,
  close,
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import { messageOf, systemCode, TeamError } from "../../errors.ts";
import { makePrivateDir, PRIVATE_DIR, PRIVATE_FILE, temporaryBeside, writeNew } from "./fs.ts";

interface WriteOptions {
  /** Of the new file, whatever the umask, 0600 by default; `umask` for a file of the user's, which is as the umask says. */
  readonly mode?: number | "umask";
  /** Whether the bytes and the name are on the disk before this returns; on by default. */
  readonly sync?: boolean;
  /** Called right before the rename; what it throws leaves the old file in place. */
  readonly beforeRename?: () => void;
}

/**
 * Replaces a file whole: a reader without a lock sees the old or the new one, a crash leaves one of them.
 * @throws a system error when nothing was replaced; TeamError PERMISSION_DENIED when it was, and only the disk's word is missing
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

/** The next content of a file, whole beside it: one rename away from being seen. */
export interface StagedFile {
  /** Puts it in the place of the file. Takes microseconds; nothing of it needs the disk or a free descriptor. */
  commit(): void;
  /**
   * To be called after `commit`, when whatever lock there was is given back: puts the name on the disk.
   * @throws TeamError PERMISSION_DENIED when the disk does not confirm what everybody can see by then
   */
  settle(): void;
  /** Instead of these: removes it. Does nothing more the second time. */
  discard(): void;
}

/** Writes the next content of a file beside it. What fails leaves nothing behind, and the file as it is. */
export function stageFile(
  path: string,
  content: string | Uint8Array,
  { mode = PRIVATE_FILE, sync = true }: WriteOptions = {},
): StagedFile {
  const temporary = temporaryBeside(path);
  let directory: number | undefined;
  try {
    writeNew(temporary, content, mode, sync);
    // Opened now, since a failure after the rename could not be taken back.
    directory = sync ? openSync(dirname(path), constants.O_RDONLY) : undefined;
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  let old = holdContent(path);
  const letGo = (): void => {
    if (directory !== undefined) closeSync(directory);
    if (old !== undefined) closeLater(old);
    directory = undefined;
    old = undefined;
  };
  return {
    commit: () => renameSync(temporary, path),
    settle: () => {
      try {
        if (directory !== undefined) syncDirectory(directory);
      } catch (error) {
        throw notConfirmed(path, error);
      } finally {
        letGo();
      }
    },
    discard: () => {
      rmSync(temporary, { force: true });
      letGo();
    },
  };
}

/**
 * Keeps a file's content while another takes its name: to free its blocks takes a millisecond where the file system tells
 * the disk of each (`discard`), which then falls behind the rename, and behind the lock around it.
 */
function holdContent(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch {
    // Not there yet, or no descriptor is left: then the rename takes its millisecond.
    return undefined;
  }
}

/** Descriptors whose closing is under way beside this thread: as many as Node has threads for it, so that they never pile up. */
const MAX_CLOSING = 4;
let closing = 0;

function closeLater(fd: number): void {
  if (closing >= MAX_CLOSING) {
    closeSync(fd);
    return;
  }
  closing += 1;
  close(fd, () => {
    // It was only read from: there is nothing that could be lost with it.
    closing -= 1;
  });
}

/** Some file systems (network, FUSE) do not know this and put names on the disk by themselves. */
function syncDirectory(fd: number): void {
  try {
    fsyncSync(fd);
  } catch (error) {
    const code = systemCode(error);
    if (code !== "EINVAL" && code !== "ENOTSUP" && code !== "EOPNOTSUPP") throw error;
  }
}

function notConfirmed(path: string, error: unknown): TeamError {
  return new TeamError(
    "PERMISSION_DENIED",
    `${path} was changed, but the disk did not confirm it (${messageOf(error)}).`,
    {
      hint: "It counts unless the machine stops now; look at the disk before you do it again.",
      cause: error,
    },
  );
}

/**
 * Makes a directory and what is missing between it and `base`, each 0700, but never `base` itself: what was deleted is
 * not brought back by a late writer.
 * @throws a system error ENOENT when `base` is gone
 */
export function makeDirBelow(base: string, path: string): void {
  let current = base;
  for (const part of relative(base, path).split(sep)) {
    current = join(current, part);
    makePrivateDir(current);
  }
}

/**
 * Creates a file with its whole content in one step: a reader never meets half of it.
 * @returns false when the name is taken
 */
export function createWhole(path: string, content: string | Uint8Array): boolean {
  const temporary = temporaryBeside(path);
  try {
    writeNew(temporary, content);
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** A new directory of our own, 0700, below the system's temporary one; whoever makes it removes it. */
export function createTemporaryDirectory(prefix: string): string {
  const path = mkdtempSync(join(tmpdir(), prefix));
  // It is made with what the umask leaves of 0700.
  chmodSync(path, PRIVATE_DIR);
  return path;
}
