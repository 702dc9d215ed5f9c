import { dirname, join, relative } from "node:path";
import type { Env } from "../os/env.ts";
import { entryOf, isDirectory, listDir, readText } from "../os/files/fs.ts";
import { git } from "./git.ts";
import { variablesOf } from "./hidden-changes.ts";
import { gitDirectoriesOf } from "./repository.ts";

/** Whether a directory contains the entries by which git recognizes a repository, such as a bare one. */
export function looksBare(directory: string | Buffer): boolean {
  const inside = (name: string): string | Buffer =>
    typeof directory === "string"
      ? join(directory, name)
      : Buffer.concat([directory, Buffer.from(`/${name}`)]);
  return (
    entryOf(inside("HEAD")) !== undefined &&
    entryOf(inside("refs")) !== undefined &&
    isDirectory(inside("objects"))
  );
}

/** Whether the enclosing checkout tracks the files of a bare repository, for example of a test fixture. @throws GitError */
export async function isTrackedRepository(directory: string, env: Env): Promise<boolean> {
  const enclosing = gitDirectoriesOf(dirname(directory));
  if (enclosing === undefined) return false;
  const head = relative(enclosing.top, join(directory, "HEAD"));
  const words = ["--literal-pathspecs", "ls-files", "-z", "--", head];
  return (await git(enclosing.top, words, env, variablesOf(enclosing))) !== "";
}

/** Counts the commits of a bare repository that it has not received from another one. @throws GitError */
export async function commitsOnlyInBare(own: string, env: Env): Promise<number> {
  const refs = ["--exclude=refs/remotes/*", "--exclude=refs/prefetch/*", "--all"];
  const others = ["--not", "--remotes", "--not", "--stdin"];
  const words = ["rev-list", "--count", "--ignore-missing", ...refs, ...others];
  const received = receivedCommits(own).map((commit) => `^${commit}\n`);
  const input = { input: received.join("") };
  return Number((await git(own, words, env, variablesOf({ top: own, own }), input)).trim());
}

/** Longest time in milliseconds between the last two writes of a clone, its packed refs and its HEAD. */
const CLONE_END_MS = 10_000;

/**
 * Returns the commits that the last fetch or the clone received. A clone packs its refs and then writes HEAD. Later commands pack the
 * repository's own refs too: pack-refs, and gc, which also writes info/refs.
 */
function receivedCommits(own: string): readonly string[] {
  const text = (name: string): string => {
    const file = join(own, name);
    return (entryOf(file)?.isFile() ? readText(file) : undefined) ?? "";
  };
  const packedAt = writtenAt(join(own, "packed-refs"));
  const sincePacked = writtenAt(join(own, "HEAD")) - packedAt;
  const isClone =
    /^\s*\[remote "/m.test(text("config")) &&
    entryOf(join(own, "info/refs")) === undefined &&
    // A HEAD written later does not show when the refs were packed: renaming a branch writes it too.
    sincePacked >= 0 &&
    sincePacked <= CLONE_END_MS &&
    // A script can pack pushed refs and write HEAD within that time.
    !hasAddedObjects(own, packedAt);
  const listed = [text("FETCH_HEAD"), ...(isClone ? [text("packed-refs")] : [])];
  return listed.flatMap((lines) => lines.match(/^[0-9a-f]{40,64}\b/gm) ?? []);
}

/** Returns when a file was last written, in milliseconds since the epoch; infinity if it is missing. */
function writtenAt(path: string): number {
  return Number(entryOf(path)?.mtimeMs ?? Number.POSITIVE_INFINITY);
}

/** The files that a clone writes first and rarely changes later. A template may omit all but the last. */
const CLONE_START = ["description", "info/exclude", "refs"];

/**
 * Whether a clone got objects from elsewhere, such as those of a push, before its refs were last packed. A clone of a directory copies
 * the objects with their times; any other clone receives one pack.
 */
function hasAddedObjects(own: string, packedAt: number): boolean {
  const filesIn = (directory: string): string[] => listDir(directory).map((name) => join(directory, name));
  const timesOf = (files: readonly string[]): number[] => files.map(writtenAt).filter((at) => at <= packedAt);
  const objects = join(own, "objects");
  const packs = timesOf(filesIn(join(objects, "pack")).filter((file) => file.endsWith(".pack")));
  const fanOut = listDir(objects).filter((name) => /^[0-9a-f]{2}$/.test(name));
  const loose = timesOf(fanOut.flatMap((name) => filesIn(join(objects, name))));
  const hasAlternates = entryOf(join(objects, "info/alternates")) !== undefined;
  if (packs.length === 1 && loose.length === 0 && !hasAlternates) return false;
  const startedAt = Math.min(...CLONE_START.map((name) => writtenAt(join(own, name))));
  return [...packs, ...loose].some((at) => at >= startedAt);
}
