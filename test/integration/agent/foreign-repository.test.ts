import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listFiles } from "../../../src/agent/tools/list-files.ts";
import { git } from "../../support/files/git.ts";
import { pathWithOldGit } from "../../support/files/old-git.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

test.each(["a bare repository among its files", "an unpacked .git directory"])(
  "listFiles › does not run a program configured by %s (S70)",
  async (kind) => {
    const directory = temporaryDirectory();
    const [made, project] = [join(directory, "made"), join(directory, "project")];
    const own = join(project, "evil");
    const inside = kind === "an unpacked .git directory" ? join(own, ".git") : own;
    for (const path of [made, inside]) mkdirSync(path, { recursive: true });
    git(made, "init", "--quiet");
    writeFileSync(join(made, ".gitignore"), "*.o\n");
    writeFileSync(join(made, "f"), "x");
    git(made, "add", ".");
    git(made, "commit", "--quiet", "-m", "x");
    git(made, "update-index", "--skip-worktree", ".gitignore");
    // When git lists files it reads this blob, and fetches it if it is missing.
    const blob = git(made, "rev-parse", ":.gitignore");
    for (const part of ["HEAD", "index", "refs", "objects"])
      cpSync(join(made, ".git", part), join(inside, part), { recursive: true });
    rmSync(join(inside, "objects", blob.slice(0, 2), blob.slice(2)));
    const ran = join(directory, "ran");
    writeFileSync(
      join(inside, "config"),
      `[core]\n repositoryformatversion = 1\n bare = false\n worktree = ${inside === own ? "." : ".."}\n sshCommand = touch ${ran}; false\n fsmonitor = touch ${ran}\n` +
        '[extensions]\n partialClone = origin\n[remote "origin"]\n url = ssh://x/y\n promisor = true\n partialclonefilter = blob:none\n[protocol "ssh"]\n allow = always\n',
    );
    writeFileSync(join(own, "f"), "x");
    // Git reads .gitignore only if there is an untracked file.
    writeFileSync(join(own, "new"), "x");
    const env = { PATH: pathWithOldGit(), HOME: directory };
    const files = await listFiles(own, { env, signal: new AbortController().signal });
    expect(files.map(({ name }) => name)).toContain("f");
    expect(existsSync(ran)).toBe(false);
  },
);
