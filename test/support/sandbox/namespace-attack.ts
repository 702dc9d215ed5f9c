import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { git } from "../files/git.ts";

/**
 * The steps of a command that is root in a new user namespace. A mount over `.git` prevents its rename only in the mount namespace that
 * contains the mount. So the steps pivot to another root, unmount the old one, and rename `.git` in their working directory, which stays
 * in the old root. Git outside the sandbox would obey the `.git` that replaces it.
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
 * A shell line for the sandbox, to be run in the project. Root may not map its uid: the second attempt keeps its
 * capabilities without a mapping.
 */
export const NAMESPACE_ATTACK = [
  ...["-Urm", "-Um --keep-caps"].map((options) => `unshare ${options} sh steps 2>&1`),
  "true",
].join("; ");

/** Creates the attacked repository, with the steps. @returns a function that lists what the attack has changed */
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
