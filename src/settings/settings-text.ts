import { fileAccessError, isSystemError, TeamError } from "../errors.ts";
import { pauseSync, systemClock } from "../os/clock.ts";
import { readText } from "../os/files/fs.ts";
import { encodingProblem, pathStat } from "../os/files/user-files.ts";

/** Bytes; a repository can contain a link to an endless file. */
const MAX_FILE = 4 * 1024 * 1024;

/** Milliseconds for which an empty file is read again if it has just changed: some editors empty a file before they write it. */
const WRITING_MS = 200;
const PAUSE_MS = 20;
/** Milliseconds after its last change for which a file counts as just changed. */
const FRESH_MS = 2_000;

/**
 * Reads the text of a settings file or an `.mcp.json`; undefined if it does not exist or is empty.
 * @param wait waits for an editor, in milliseconds
 * @throws TeamError CORRUPT_FILE if it is not a regular file or too large, PERMISSION_DENIED if the system refuses to read it
 */
export function readSettingsText(file: string, wait: (ms: number) => void = pauseSync): string | undefined {
  try {
    for (let waitedMs = 0; ; waitedMs += PAUSE_MS) {
      const { kind, size, mtimeMs } = pathStat(file);
      if (kind !== "missing" && (kind !== "file" || size > MAX_FILE)) break;
      const text = readText(file);
      if (text?.trim() !== "") return text;
      if (waitedMs >= WRITING_MS || Math.abs(systemClock.now() - mtimeMs) > FRESH_MS) return undefined;
      wait(PAUSE_MS);
    }
  } catch (error) {
    if (isSystemError(error)) throw fileAccessError(file, "read", error);
    throw error;
  }
  throw new TeamError("CORRUPT_FILE", `${file} is not a regular file, or is too large.`, {
    hint: "Replace it with a regular file of at most 4 MB, or remove it.",
  });
}

/**
 * Refuses a text that was read from a file in another encoding: its rules would name other files, and writing it would damage it.
 * @throws TeamError CORRUPT_FILE
 */
export function requireUtf8(file: string, text: string): void {
  const problem = encodingProblem(file, text);
  if (problem === undefined) return;
  throw new TeamError("CORRUPT_FILE", `${file} ${problem}.`, {
    hint: "Save it again as UTF-8; the file was not changed.",
  });
}
