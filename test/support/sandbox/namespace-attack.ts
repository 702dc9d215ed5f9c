import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { git } from "../files/git.ts";

/**
 * The steps of a command as root of its own user namespace. A mount over `.git` keeps it from being renamed only in the mounts of its
 * own process: so the steps move into another root, drop the old one, and rename `.git` below their working directory, which is still in
 * it. Git outside would obey the `.git` that they put in its place.
 */
const STEPS = `
echo entered >> entered
rm -rf new
mkdir -p new/old new/proc
mount --bind new new
for name in usr bin sbin lib lib64; do
  if [ -h /$name ]; then cp -P /$name new; elif [ -d /$name ]; then mkdir new/$name; mount --rbind /$name new/$name; fi
done
mount --rbind /proc new/proc
pivot_root new new/old
umount -nl /old
mv .git gone && cp -r gone .git && echo '# evil' >> .git/config && echo evil > .git/hooks/pre-commit
`;

/**
 * A shell line for the sandbox, to be run in the project. Root may not map its uid: the second try keeps its capabilities
 * unmapped.
 */
export const NAMESPACE_ATTACK = [
  ...["-Urm", "-Um --keep-caps"].map((options) => `unshare ${options} sh steps 2>&1`),
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
