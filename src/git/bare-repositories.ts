import { dirname, join, relative } from "node:path";
import type { Env } from "../os/env.ts";
import { entryOf, isDirectory, readText } from "../os/files/fs.ts";
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
  return Number((await git(own, words, env, variablesOf({ top: own, own }), received.join(""))).trim());
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
  const changedAt = (name: string): number => Number(entryOf(join(own, name))?.mtimeMs ?? 0);
  const sincePacked = changedAt("HEAD") - changedAt("packed-refs");
  const isClone =
    /^\s*\[remote "/m.test(text("config")) &&
    entryOf(join(own, "info/refs")) === undefined &&
    // A HEAD written later does not show when the refs were packed: renaming a branch writes it too.
    sincePacked >= 0 &&
    sincePacked <= CLONE_END_MS;
  const listed = [text("FETCH_HEAD"), ...(isClone ? [text("packed-refs")] : [])];
  return listed.flatMap((lines) => lines.match(/^[0-9a-f]{40,64}\b/gm) ?? []);
}
