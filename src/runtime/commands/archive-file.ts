import { basename, dirname, resolve } from "node:path";
import { isSystemError, systemErrorCode, systemErrorHint, TeamError } from "../../errors.ts";
import { gitDirectoriesOf } from "../../git/repository.ts";
import { systemClock } from "../../os/clock.ts";
import { entryOf, isDirectory } from "../../os/files/fs.ts";
import { replaceWithBytes } from "../../os/files/tar.ts";
import { isSpecialFile } from "../../os/files/user-files.ts";
import { defined } from "../../schema/defined.ts";
import { exportTeam, type TeamArchive } from "../../team/archive/export-team.ts";
import type { TeamRef } from "../../team/ref.ts";
import { line } from "../../terminal/output.ts";
import { shellWord } from "../../text/shell-quote.ts";

/** A team's archive on disk. */
export interface SavedArchive extends Pick<TeamArchive, "files" | "consistent"> {
  readonly file: string;
  /** The size of the file. */
  readonly bytes: number;
  /** The worktree of git that the file is in, if it is in one. */
  readonly worktree?: string;
}

interface SaveOptions {
  readonly cwd: string;
  /** Relative to `cwd`, replaced if it exists; by default a new name of the team and the time. */
  readonly file?: string | undefined;
  /** Cancels: nothing is saved, and the reason of the signal is thrown. */
  readonly signal?: AbortSignal;
  /** How to save it in another place, for hints. */
  readonly elsewhere?: string;
}

/**
 * Saves a team's archive to a file, atomically. A pipe or a device is written in place.
 * @throws TeamError INVALID_INPUT if the directory of the file is missing, or the path is a directory; PERMISSION_DENIED if the file
 * cannot be written; the errors of `exportTeam`
 */
export async function saveTeam(
  ref: TeamRef,
  { cwd, file, signal, elsewhere = "name another file with -o" }: SaveOptions,
): Promise<SavedArchive> {
  const path = file === undefined ? freePath(ref, cwd) : resolve(cwd, file);
  if (isDirectory(path)) {
    throw new TeamError("INVALID_INPUT", `${path} is a directory; nothing was saved.`, {
      hint: `Name a file in it: ${resolve(path, basename(freePath(ref, path)))}`,
    });
  }
  if (!isDirectory(dirname(path))) throw missingDirectoryError(path, elsewhere);
  const archive = await exportTeam(ref);
  try {
    const bytes = await replaceWithBytes(path, archive.bytes, signal);
    const { files, consistent } = archive;
    return defined({
      ...{ file: path, bytes, files, consistent },
      worktree: gitDirectoriesOf(dirname(path))?.top,
    });
  } catch (error) {
    throw isSystemError(error) ? saveError(path, error, elsewhere) : error;
  }
}

/** Shown if an archive is not consistent. */
export const BUSY_NOTE =
  "The team kept writing during the export: each file is complete, but the last ones may be a second newer than the first.";

/** Returns a warning if an archive, which contains whole conversations, is in a git worktree; otherwise nothing. */
export function worktreeLines({ worktree }: SavedArchive): readonly string[] {
  if (worktree === undefined) return [];
  return [
    line`The archive is in the git worktree ${worktree}, and contains whole conversations: move it, or don't commit it.`,
  ];
}

/** Returns `<team>-<yyyymmdd-hhmmss>.tar.gz` in local time; `…-2.tar.gz` and so on for more archives in one second. */
function freePath(ref: TeamRef, directory: string): string {
  const now = new Date(systemClock.now());
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${now.getFullYear()}${two(now.getMonth() + 1)}${two(now.getDate())}`;
  const stem = `${ref.team}-${day}-${two(now.getHours())}${two(now.getMinutes())}${two(now.getSeconds())}`;
  for (let n = 1; ; n += 1) {
    const path = resolve(directory, `${stem}${n === 1 ? "" : `-${n}`}.tar.gz`);
    if (entryOf(path) === undefined) return path;
  }
}

function missingDirectoryError(path: string, elsewhere: string): TeamError {
  const directory = dirname(path);
  const message = `The directory ${directory} for ${basename(path)} does not exist; nothing was saved.`;
  return new TeamError("INVALID_INPUT", message, {
    hint: `Create it: mkdir -p ${shellWord(directory)}; or ${elsewhere}.`,
    details: { file: path },
  });
}

function saveError(path: string, error: NodeJS.ErrnoException, elsewhere: string): TeamError {
  // Without the system's message: it names a temporary file that the user does not know.
  const end = isSpecialFile(path) ? "the archive is incomplete" : "nothing was saved";
  return new TeamError(systemErrorCode(error), `${path} cannot be written (${error.code}); ${end}.`, {
    hint: `${systemErrorHint(error)} Or ${elsewhere}.`,
    details: { file: path, errno: error.code },
    cause: error,
  });
}
