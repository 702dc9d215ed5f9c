import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { git } from "../files/git.ts";

/**
 * What a command can try as root of a user namespace of its own: mounts over git's protected files, mounts taken away, another root, and a
 * `.git` in place of the real one, which git outside would obey. Each step works on its own if the one before fails.
 */
const STEPS = `
echo entered >> entered
mount --bind own .git/hooks && echo evil > .git/hooks/pre-commit
umount -l .git/hooks; umount -l .git/config; umount -l .git
mount -o remount,rw,bind .git/config; mount -o remount,rw,bind .git/hooks
echo '# evil' >> .git/config; echo evil > .git/hooks/pre-commit
mount --bind . new || mount --rbind . new
cd new && mkdir -p old && pivot_root . old; cd /; umount -l old
for at in "$PROJECT" / /new "$PROJECT/new"; do
  cd "$at" && mv .git gone && cp -r gone .git && echo '# evil' >> .git/config && echo evil > .git/hooks/pre-commit
done
`;

/** A shell line for the sandbox, to be run in the project. It always succeeds. */
export const NAMESPACE_ATTACK = [
  "mkdir -p own new; export PROJECT=$PWD",
  ...["-Urm", "-Um", "-Ucm", "-UrmpfiunC"].map((options) => `unshare ${options} sh steps 2>&1`),
  "unshare -Ur unshare -m sh steps 2>&1",
  "true",
].join("; ");

/** Creates the repository that is attacked, with the steps. @returns what a successful attack changes; empty if it failed */
export function attackedRepository(project: string): () => readonly string[] {
  mkdirSync(project, { recursive: true });
  git(project, "init", "--quiet", "--initial-branch=main");
  git(project, "commit", "--quiet", "--allow-empty", "--message", "first");
  writeFileSync(join(project, "steps"), STEPS);
  const state = (): Readonly<Record<string, unknown>> => ({
    ".git": lstatSync(join(project, ".git")).ino,
    ".git/config": readFileSync(join(project, ".git/config"), "utf8"),
    ".git/hooks": readdirSync(join(project, ".git/hooks")).join(),
    entered: readdirSync(project).includes("entered"),
    gone: readdirSync(project).includes("gone"),
  });
  const before = state();
  return () => {
    const after = state();
    return Object.keys(before).filter((name) => before[name] !== after[name]);
  };
}
