import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { GIT_IDENTITY, git } from "../../../support/files/git.ts";
import { describeInSandbox, sandboxedAgent } from "../../../support/sandbox/sandboxed-agent.ts";

function repository(directory: string): void {
  git(directory, "init", "-q", "-b", "main");
  writeFileSync(join(directory, "a"), "1\n");
  git(directory, "add", "a");
  git(directory, "commit", "-qm", "first");
}

const COMMIT = 'git add -A && git commit -qm "from the sandbox" && git log --format=%s -1';

describeInSandbox("git in the sandbox", () => {
  test("commits, branches, merges, rebases and stashes", async () => {
    const { bash, project } = await sandboxedAgent({ env: GIT_IDENTITY, prepare: (_, at) => repository(at) });
    const result = await bash(
      `set -e; echo 2 > b; ${COMMIT}; git checkout -q -b topic; echo 3 > c; ${COMMIT}; git checkout -q main;
       echo 4 > d; ${COMMIT}; git rebase -q main topic; git checkout -q main; git merge -q --no-ff -m merged topic;
       echo 5 > a; git stash -q; git stash pop -q; git tag v1; git gc -q; git status --short`,
    );
    expect(result).toMatchObject({ isError: false, content: expect.stringContaining("from the sandbox") });
    expect(git(project, "log", "--format=%s", "-1")).toBe("merged");
  });

  test("does not wait for an editor or a key, in a new sandbox and in a prewarmed one", async () => {
    const { bash } = await sandboxedAgent({ env: GIT_IDENTITY, prepare: (_, at) => repository(at) });
    for (let i = 0; i < 2; i += 1) {
      const command = "git commit -q --amend; read -r key <&2 || echo no key";
      const { content } = await bash(command, { timeout: 240_000 });
      expect(content).toContain("There is no terminal for an editor");
      expect(content).toContain("no key");
    }
  });

  test("commits in a linked worktree, and creates another one in the working directory", async () => {
    const { context, home, bash, project } = await sandboxedAgent({
      env: GIT_IDENTITY,
      prepare: (at, main) => {
        repository(main);
        git(main, "worktree", "add", "-q", "-b", "side", join(at, "side"));
      },
      also: ["side"],
    });
    const side = join(home, "side");
    const there = { ...context, cwd: side };
    const { bashTool } = await import("../../../../src/agent/tools/bash.ts");
    const result = await bashTool.execute({ command: `echo 2 > b; ${COMMIT}` }, there);
    expect(result).toMatchObject({ isError: false });
    expect(git(project, "log", "--format=%s", "-1", "side")).toBe("from the sandbox");
    expect(
      await bash("git worktree add -q -b more .worktrees/more && git -C .worktrees/more status --short"),
    ).toMatchObject({
      isError: false,
    });
  });

  test("commits below the top of the repository", async () => {
    const { context, project } = await sandboxedAgent({
      env: GIT_IDENTITY,
      prepare: (_, at) => {
        repository(at);
        mkdirSync(join(at, "sub"));
      },
    });
    const { bashTool } = await import("../../../../src/agent/tools/bash.ts");
    const result = await bashTool.execute(
      { command: `echo 2 > b; ${COMMIT}` },
      { ...context, cwd: join(project, "sub") },
    );
    expect(result).toMatchObject({ isError: false });
  });

  test("cannot change what makes git run commands", async () => {
    const { bash, project } = await sandboxedAgent({
      env: GIT_IDENTITY,
      prepare: (at, main) => {
        repository(main);
        mkdirSync(join(main, "own-hooks"));
        mkdirSync(join(main, "user-hooks"));
        git(main, "config", "core.hooksPath", "own-hooks");
        writeFileSync(join(at, ".gitconfig"), "[core] hooksPath = user-hooks # of each repository");
        git(main, "worktree", "add", "-q", "-b", "side", join(at, "side"));
      },
      also: ["side"],
    });
    const config = readFileSync(join(project, ".git/config"), "utf8");
    await bash(`
      git config core.fsmonitor evil; git config --worktree core.fsmonitor evil
      echo evil > .git/hooks/pre-commit; mv .git/hooks .git/h; mv .git .g; rm -rf .git/hooks
      echo evil > .git/config; rm -f .git/config; mv a .git/config
      echo evil > own-hooks/pre-commit; mv own-hooks o; echo evil > user-hooks/pre-commit
      echo evil > ../side/.git; rm -f ../side/.git; echo /evil > .git/worktrees/side/commondir
      echo evil > .git/worktrees/side/config.worktree`);
    expect(readFileSync(join(project, ".git/config"), "utf8")).toBe(config);
    for (const path of [
      ".git/hooks/pre-commit",
      "own-hooks/pre-commit",
      "user-hooks/pre-commit",
      ".g",
      ".git/h",
      "o",
    ])
      expect(existsSync(join(project, path)), path).toBe(false);
    expect(readFileSync(join(project, ".git/worktrees/side/commondir"), "utf8").trim()).toBe("../..");
    expect(git(join(project, "../side"), "status", "--short")).toBe("");
  });

  test("cannot change what makes git run commands in submodules, even of other worktrees", async () => {
    const { bash, project } = await sandboxedAgent({
      env: GIT_IDENTITY,
      prepare: (at, main) => {
        repository(main);
        mkdirSync(join(at, "lib"));
        repository(join(at, "lib"));
        git(main, "worktree", "add", "-q", "-b", "side", join(at, "side"));
        for (const tree of [main, join(at, "side")])
          git(
            tree,
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "--quiet",
            "add",
            join(at, "lib"),
            "lib",
          );
      },
    });
    for (const module of ["modules/lib", "worktrees/side/modules/lib"]) {
      const directory = join(project, ".git", module);
      const config = readFileSync(join(directory, "config"), "utf8");
      await bash(
        `cd .git/${module} && touch reached; echo evil > config; rm -f config; echo evil > hooks/pre-commit`,
      );
      expect(existsSync(join(directory, "reached")), module).toBe(true);
      expect(readFileSync(join(directory, "config"), "utf8"), module).toBe(config);
      expect(existsSync(join(directory, "hooks/pre-commit")), module).toBe(false);
    }
  });

  test.each([
    ["does not exist", ""],
    ["exists", "own-hooks"],
  ])("cannot write hooks at the user's relative core.hooksPath if it %s", async (_, directory) => {
    const { bash, project } = await sandboxedAgent({
      env: GIT_IDENTITY,
      prepare: (at, main) => {
        repository(main);
        mkdirSync(join(main, directory), { recursive: true });
        writeFileSync(join(at, ".gitconfig"), "[core]\n\thooksPath = own-hooks\n");
      },
    });
    await bash("mkdir -p own-hooks; echo evil > own-hooks/pre-commit; echo fine > b");
    expect(existsSync(join(project, "own-hooks/pre-commit"))).toBe(false);
    expect(existsSync(join(project, "b"))).toBe(true);
  });

  test("cannot create hooks in a repository that has none", async () => {
    const { bash, project } = await sandboxedAgent({
      env: GIT_IDENTITY,
      prepare: (_, at) => {
        git(at, "init", "-q", "-b", "main", "--template=");
      },
    });
    await bash("mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit");
    expect(existsSync(join(project, ".git/hooks/pre-commit"))).toBe(false);
  });

  test("can leave a rebase whose commands later run outside the sandbox (a documented limit)", async () => {
    const { bash, project } = await sandboxedAgent({ env: GIT_IDENTITY, prepare: (_, at) => repository(at) });
    const result = await bash(
      `echo 2 > b; ${COMMIT}; printf '%s\\n' 'break' 'exec touch ran' > list; GIT_SEQUENCE_EDITOR='cp list' git rebase -qi HEAD~1`,
    );
    expect(result).toMatchObject({ isError: false });
    expect(existsSync(join(project, "ran"))).toBe(false);
    git(project, "rebase", "--continue");
    expect(existsSync(join(project, "ran"))).toBe(true);
  });

  test("does not open another repository that a forged .git file names", async () => {
    const { bash, home } = await sandboxedAgent({
      env: GIT_IDENTITY,
      prepare: (at, project) => {
        mkdirSync(join(at, "victim"));
        repository(join(at, "victim"));
        writeFileSync(join(project, ".git"), `gitdir: ${join(at, "victim/.git")}\n`);
      },
    });
    await bash("git commit -q --allow-empty -m forged");
    expect(git(join(home, "victim"), "log", "--format=%s")).toBe("first");
  });

  test("does not open another repository that a .git link leads to", async () => {
    const { bash, home } = await sandboxedAgent({
      env: GIT_IDENTITY,
      prepare: (at, project) => {
        mkdirSync(join(at, "victim"));
        repository(join(at, "victim"));
        symlinkSync(join(at, "victim/.git"), join(project, ".git"));
      },
    });
    await bash("git commit -q --allow-empty -m forged");
    expect(git(join(home, "victim"), "log", "--format=%s")).toBe("first");
  });

  test("runs the next command even if the repository consists of pipes and link cycles", async () => {
    const { bash } = await sandboxedAgent();
    await bash(
      "mkdir -p .git; mkfifo .git/config .git/commondir; ln -s .envrc .envrc; ln -s hooks .git/hooks",
    );
    expect((await bash("echo fine")).content).toBe("fine");
  });
});
