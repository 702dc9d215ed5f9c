import { join } from "node:path";
import * as z from "zod/mini";
import { repositoryOf } from "../git/repository.ts";
import type { Clock } from "../os/clock.ts";
import { formatJson } from "../os/files/atomic-write.ts";
import { ensureDir } from "../os/files/fs.ts";
import { jsonUpdate, readJsonFile, readRecordFile } from "../store/json-file.ts";
import { updateFile } from "../store/update-file.ts";

/** `teams-trust.json` in the root: the user's trust decisions, by the main directory of a repository. */
const trustFile = z.looseObject({
  directories: z._default(
    z.record(
      z.string(),
      z.looseObject({
        /** False: the user answered no and is not asked again. */
        trusted: z.boolean(),
        /** Milliseconds since the epoch. */
        at: z._default(z.number(), 0),
      }),
    ),
    {},
  ),
});

/** The user's decision about a directory. */
interface TrustRecord {
  readonly directory: string;
  readonly trusted: boolean;
  readonly at: number;
}

export function trustPath(root: string): string {
  return join(root, "teams-trust.json");
}

/** Returns whether the user trusts a directory's repository; undefined without a decision, or if the trust file cannot be read. */
export function trustDecision(root: string, directory: string): boolean | undefined {
  return readRecordFile(trustPath(root), trustFile)?.directories[repositoryOf(directory)]?.trusted;
}

/** @throws TeamError CORRUPT_FILE */
export function listTrust(root: string): TrustRecord[] {
  const { directories } = readJsonFile(trustPath(root), trustFile) ?? { directories: {} };
  return Object.entries(directories).map(([directory, { trusted, at }]) => ({ directory, trusted, at }));
}

/**
 * Records whether the user trusts a directory, and with it all worktrees of its repository.
 * @param trusted undefined removes the decision
 * @returns the directory under which the decision is recorded, and the decision before
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
  await updateFile(path, (text, isLocked) => {
    const plan = jsonUpdate<z.infer<typeof trustFile>>({
      path,
      schema: trustFile,
      missing: () => new Error("A missing file is read as an empty one."),
      change: (current) => {
        before = current.directories[key]?.trusted;
        if (before === trusted) return undefined;
        const { [key]: _old, ...others } = current.directories;
        const own = trusted === undefined ? {} : { [key]: { trusted, at: clock.now() } };
        return { ...current, directories: { ...others, ...own } };
      },
    });
    return plan(text ?? formatJson({}), isLocked, []);
  });
  return { directory: key, before };
}
