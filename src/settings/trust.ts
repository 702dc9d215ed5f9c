import { dirname, join } from "node:path";
import * as z from "zod/mini";
import { fileAccessError, isSystemError } from "../errors.ts";
import { placeInWorktree, repositoryOf } from "../git/repository.ts";
import type { Clock } from "../os/clock.ts";
import { formatJson } from "../os/files/atomic-write.ts";
import { ensureDir, isDirectory } from "../os/files/fs.ts";
import { realPathOf } from "../os/files/symlinks.ts";
import { jsonUpdate, readJsonFile, readRecordFile } from "../store/json-file.ts";
import { updateFile } from "../store/update-file.ts";
import { type Part, partHash } from "./setting-parts.ts";

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
        /** Hashes of the parts that the user has confirmed, by their file's path in a worktree. Missing in older records. */
        confirmed: z.optional(z.record(z.string(), z.array(z.string()))),
      }),
    ),
    {},
  ),
});
type TrustEntry = z.infer<typeof trustFile>["directories"][string];

/** How many hashes of one file are kept: enough to switch between some branches without a question. */
const MAX_HASHES = 1_000;

/** Why parts are ignored if the record is from a version that did not compare contents. */
export const OLD_RECORD =
  "trusted by an older version that did not compare contents (confirm it once: teams trust)";

/** The user's decision about a directory. */
interface TrustRecord {
  readonly directory: string;
  readonly trusted: boolean;
  readonly at: number;
  /** How many parts are confirmed; null if the record is from a version that did not compare contents. */
  readonly parts: number | null;
}

/** A part of a file that a person has seen. The path is relative to the directory of the agents. */
export interface PartOfFile extends Part {
  readonly file: string;
}

/** The user's confirmations for the repository of a directory. */
export interface Confirmations {
  /** Undefined without a decision. */
  readonly decision: boolean | undefined;
  /** Why parts of a trusted directory are ignored, as the beginning of a line. */
  readonly reason: string;
  /** Whether the user trusts the directory and has confirmed this part of this file with this content. */
  isConfirmed(part: PartOfFile): boolean;
}

export function trustPath(root: string): string {
  return join(root, "teams-trust.json");
}

/** Returns whether the user trusts a directory's repository; undefined without a decision, or if the trust file cannot be read. */
export function trustDecision(root: string, directory: string): boolean | undefined {
  return entryFor(root, directory)?.trusted;
}

/** Returns when the user last decided about a directory's repository, in milliseconds since the epoch. */
export function decidedAt(root: string, directory: string): number | undefined {
  return entryFor(root, directory)?.at;
}

/** Returns what the user has confirmed in a directory. Trust covers contents: a changed part needs a new confirmation. */
export function confirmationsIn(root: string, directory: string): Confirmations {
  const entry = entryFor(root, directory);
  const place = placeInWorktree(directory);
  return {
    decision: entry?.trusted,
    reason: !entry?.trusted
      ? "not trusted"
      : entry.confirmed === undefined
        ? OLD_RECORD
        : "changed since you trusted it (see teams trust --changes)",
    isConfirmed: (part) => {
      if (!entry?.trusted) return false;
      const hash = partHash(part);
      return hash !== undefined && (entry.confirmed?.[idOf(place, part.file)] ?? []).includes(hash);
    },
  };
}

function entryFor(root: string, directory: string): TrustEntry | undefined {
  return readRecordFile(trustPath(root), trustFile)?.directories[repositoryOf(directory)];
}

/** The path of a file below the top of its worktree: the same for all worktrees of a repository. */
function idOf(place: string, file: string): string {
  return join(place, file);
}

/** @throws TeamError CORRUPT_FILE */
export function listTrust(root: string): TrustRecord[] {
  const { directories } = readJsonFile(trustPath(root), trustFile) ?? { directories: {} };
  return Object.entries(directories).map(([directory, { trusted, at, confirmed }]) => ({
    directory,
    trusted,
    at,
    parts: confirmed === undefined ? null : new Set(Object.values(confirmed).flat()).size,
  }));
}

/**
 * Records whether the user trusts a directory, and with it all worktrees of its repository.
 * @param trusted undefined removes the decision
 * @param parts what the user has seen and confirms; earlier confirmations stay
 * @returns the directory under which the decision is recorded, and the decision before
 * @throws TeamError CORRUPT_FILE, LOCK_TIMEOUT; nothing was changed
 */
export async function setTrust(
  root: string,
  directory: string,
  trusted: boolean | undefined,
  clock: Clock,
  parts: readonly PartOfFile[] = [],
): Promise<{ readonly directory: string; readonly before: boolean | undefined }> {
  // The repository of a directory that is gone is unknown: an outer one may have a decision of its own.
  const key = isDirectory(directory) ? repositoryOf(directory) : directory;
  let before: boolean | undefined;
  await updateTrust(root, (current) => {
    const { [key]: old, ...others } = current.directories;
    before = old?.trusted;
    if (trusted !== true && before === trusted) return undefined;
    const at = before === trusted && old !== undefined ? old.at : clock.now();
    const confirmed = withParts(old?.trusted ? old.confirmed : {}, placeInWorktree(directory), parts);
    const own =
      trusted === undefined ? {} : { [key]: trusted ? { ...old, trusted, at, confirmed } : { trusted, at } };
    return { ...current, directories: { ...others, ...own } };
  });
  return { directory: key, before };
}

/**
 * Confirms parts that a person is about to add to a file. Does nothing in a directory that is not trusted.
 * @throws TeamError CORRUPT_FILE, LOCK_TIMEOUT; nothing was changed
 */
export async function confirmAdded(
  root: string,
  directory: string,
  parts: readonly PartOfFile[],
): Promise<void> {
  const key = repositoryOf(directory);
  await updateTrust(root, (current) => {
    const old = current.directories[key];
    if (!old?.trusted) return undefined;
    const confirmed = withParts(old.confirmed, placeInWorktree(directory), parts);
    return { ...current, directories: { ...current.directories, [key]: { ...old, confirmed } } };
  });
}

function withParts(
  old: TrustEntry["confirmed"] = {},
  place: string,
  parts: readonly PartOfFile[],
): NonNullable<TrustEntry["confirmed"]> {
  const next = { ...old };
  for (const file of new Set(parts.map((part) => part.file))) {
    const id = idOf(place, file);
    const hashes = parts.flatMap((part) => (part.file === file ? (partHash(part) ?? []) : []));
    const all = new Set([...hashes, ...(next[id] ?? [])]);
    next[id] = [...all].slice(0, Math.max(MAX_HASHES, hashes.length));
  }
  return next;
}

type TrustFile = z.infer<typeof trustFile>;

async function updateTrust(
  root: string,
  change: (current: TrustFile) => TrustFile | undefined,
): Promise<void> {
  try {
    // The user may have made it a symlink. Replace the link's target, so that the link stays; the lock is next to the target.
    const path = realPathOf(trustPath(root));
    ensureDir(dirname(path));
    await updateFile(path, (text, isLocked) => {
      const missing = (): Error => new Error("A missing file is read as an empty one.");
      const plan = jsonUpdate<TrustFile>({ path, schema: trustFile, missing, change });
      return plan(text ?? formatJson({}), isLocked, []);
    });
  } catch (error) {
    // A link may lead to a place that only another program changes.
    throw isSystemError(error)
      ? fileAccessError(trustPath(root), "written", error, "; it is unchanged")
      : error;
  }
}
