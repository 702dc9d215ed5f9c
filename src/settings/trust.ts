import { join } from "node:path";
import * as z from "zod/mini";
import { repositoryOf } from "../git/repository.ts";
import type { Clock } from "../os/clock.ts";
import { ensureDir } from "../os/files/fs.ts";
import { formatJson } from "../store/format-json.ts";
import { jsonUpdate, readJsonFile, readRecordFile } from "../store/json-file.ts";
import { changeFile } from "../store/update-file.ts";

/** `teams-trust.json` of the root: what a person said of directories, by the directory that stands for their repository. */
const trustFile = z.looseObject({
  directories: z._default(
    z.record(
      z.string(),
      z.looseObject({
        /** False was said to the question: it is not put again. */
        trusted: z.boolean(),
        /** Milliseconds since the epoch. */
        at: z._default(z.number(), 0),
      }),
    ),
    {},
  ),
});

/** A directory that somebody was asked about, or said something of. */
interface TrustRecord {
  readonly directory: string;
  readonly trusted: boolean;
  readonly at: number;
}

export function trustPath(root: string): string {
  return join(root, "teams-trust.json");
}

/** What was said of a directory's repository; undefined where nobody was asked. A file that cannot be read trusts nobody. */
export function trustIn(root: string, directory: string): boolean | undefined {
  return readRecordFile(trustPath(root), trustFile)?.directories[repositoryOf(directory)]?.trusted;
}

/** @throws TeamError CORRUPT_FILE */
export function listTrust(root: string): TrustRecord[] {
  const { directories } = readJsonFile(trustPath(root), trustFile) ?? { directories: {} };
  return Object.entries(directories).map(([directory, { trusted, at }]) => ({ directory, trusted, at }));
}

/**
 * Says of a directory, and with it of all worktrees of its repository, whether its own files count.
 * @param trusted undefined forgets what was said
 * @returns the directory that it is kept under, and what was said before
 * @throws TeamError CORRUPT_FILE, LOCK_TIMEOUT; nothing was changed
 */
export async function setTrust(
  root: string,
  directory: string,
  trusted: boolean | undefined,
  clock: Clock,
): Promise<{ readonly directory: string; readonly before: boolean | undefined }> {
  const path = trustPath(root);
  ensureDir(root);
  const key = repositoryOf(directory);
  let before: boolean | undefined;
  await changeFile(path, (text, isLocked) => {
    const plan = jsonUpdate<z.infer<typeof trustFile>>({
      path,
      schema: trustFile,
      missing: () => new Error("An absent file reads as an empty one."),
      change: (current) => {
        before = current.directories[key]?.trusted;
        if (before === trusted) return undefined;
        const { [key]: _old, ...others } = current.directories;
        const own = trusted === undefined ? {} : { [key]: { trusted, at: clock.now() } };
        return { ...current, directories: { ...others, ...own } };
      },
    });
    return plan(text ?? formatJson({}), isLocked);
  });
  return { directory: key, before };
}
