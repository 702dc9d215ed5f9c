import { randomUUID } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { describeInSandbox, sandboxedAgent } from "../../../support/sandbox/sandboxed-agent.ts";
import { eventually } from "../../../support/timing/eventually.ts";

const write = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};

describeInSandbox("a command in the sandbox", () => {
  test("writes in the working directory and in its own /tmp, and nowhere else", async () => {
    // Not in /tmp, which is a different directory in the sandbox.
    const outside = join(import.meta.dirname, `made-by-${process.pid}`);
    onTestFinished(() => rmSync(outside, { force: true }));
    const { bash, home, project } = await sandboxedAgent({
      also: [],
      prepare: (at) => write(join(at, "other/a"), ""),
    });
    const own = `/tmp/teams-${randomUUID()}`;
    const result = await bash(
      `echo in > made; echo t > ${own}; echo x > ${home}/other/b; echo x > ${outside}`,
    );
    expect(result.isError).toBe(true);
    expect(readFileSync(join(project, "made"), "utf8")).toBe("in\n");
    expect(existsSync(join(home, "other/b"))).toBe(false);
    expect(existsSync(outside)).toBe(false);
    expect((await bash(`cat ${own}`)).content).toBe("t");
    expect(existsSync(own)).toBe(false);
  });

  test("cannot change the targets of links to the user's settings and trust record", async () => {
    const names = ["settings.json", "teams-trust.json", "agents/reviewer.md"];
    const { bash, project } = await sandboxedAgent({
      prepare: (home, at) => {
        for (const name of names) write(join(at, "dotfiles", name), "{}");
        for (const name of ["settings.json", "teams-trust.json", "agents"])
          symlinkSync(join(at, "dotfiles", name), join(home, ".claude", name));
      },
    });
    for (const name of names) {
      const file = join(project, "dotfiles", name);
      const result = await bash(
        `cat ${file} && { echo x > ${file} || mv ${file} ${file}.old || rm ${file}; }`,
      );
      expect(result.content, name).toContain("{}");
      expect(readFileSync(file, "utf8"), name).toBe("{}");
    }
    expect((await bash("echo x > dotfiles/other")).isError).toBe(false);
  });

  test("cannot read keys and logins, even in a working directory", async () => {
    const keyring = ".local/share/keyrings/login.keyring";
    const logins = [".ssh/id_ed25519", ".netrc", ".config/gh/hosts.yml", ".claude/.credentials.json"];
    const sockets = [".docker/desktop/docker.sock", ".orbstack/run/docker.sock", ".screen/1.work"];
    const secrets = [...logins, keyring, ...sockets];
    const { bash, home } = await sandboxedAgent({
      also: [""],
      prepare: (at) => {
        for (const secret of secrets) write(join(at, secret), "TOP SECRET");
        write(join(at, "plain"), "readable");
      },
    });
    const result = await bash(
      `cat ${home}/plain; for f in ${secrets.join(" ")}; do cat ${home}/$f; done; ls -A ${home}/.ssh`,
    );
    expect(result.content).toContain("readable");
    expect(result.content).not.toContain("SECRET");
    expect(result.content).not.toContain("id_ed25519\n");
  });

  test("cannot read a file that a Read rule denies, or write one that an Edit rule denies", async () => {
    const deny = ["Read(.env)", "Read(keys/**)", "Read(~/notes/**)", "Edit(docs/**)", "Read", "Edit(broken"];
    const { bash, home, project } = await sandboxedAgent({
      deny,
      prepare: (at, cwd) => {
        for (const name of [".env", "deep/er/.env", "keys/a/b"]) write(join(cwd, name), "TOP SECRET");
        write(join(at, "notes/mine"), "TOP SECRET");
        write(join(cwd, "docs/guide.md"), "guide");
        write(join(cwd, "plain"), "readable");
        symlinkSync(".env", join(cwd, "link"));
      },
    });
    const reads = "cat plain docs/guide.md; cat .env link deep/er/.env keys/a/b keys/new; ls keys";
    const first = await bash(`${reads}; cat ${home}/notes/mine; sh -c 'e=env; cat .$e'`);
    expect(first.content).toMatch(/^readableguide/);
    expect(first.content).not.toContain("SECRET");
    await bash("echo x >> docs/guide.md; echo x > docs/new; echo x > .env; mv .env other; echo x > made");
    const text = (name: string): string => readFileSync(join(project, name), "utf8");
    expect([text("docs/guide.md"), text(".env"), text("made")]).toEqual(["guide", "TOP SECRET", "x\n"]);
    expect(existsSync(join(project, "docs/new"))).toBe(false);
    deny.push("Read(plain)");
    expect((await bash("cat plain")).content).not.toContain("readable");
  });

  test("can read a hidden file that a setting names", async () => {
    const { bash, home } = await sandboxedAgent({
      also: [""],
      setting: { read: ["~/.npmrc"] },
      prepare: (at) => {
        write(join(at, ".npmrc"), "registry=x");
        write(join(at, ".netrc"), "TOP SECRET");
      },
    });
    expect((await bash(`cat ${home}/.npmrc ${home}/.netrc; echo x > ${home}/.npmrc`)).content).toContain(
      "registry=x",
    );
    expect(readFileSync(join(home, ".npmrc"), "utf8")).toBe("registry=x");
  });

  test("can write in additional directories that a setting names, except to protected files", async () => {
    const { bash, home } = await sandboxedAgent({
      setting: { write: ["~/cache", "~/missing"] },
      prepare: (at) => write(join(at, "cache/.envrc"), "mine"),
    });
    await bash(`cd ${home}/cache && echo in > made; echo x > .envrc; rm -f .envrc`);
    expect(readFileSync(join(home, "cache/made"), "utf8")).toBe("in\n");
    expect(readFileSync(join(home, "cache/.envrc"), "utf8")).toBe("mine");
  });

  test("cannot change, replace or create the files from which other programs run commands", async () => {
    const guarded = [
      ".mcp.json",
      ".envrc",
      ".vscode/tasks.json",
      "sub/.vscode/tasks.json",
      ".husky/pre-commit",
    ];
    const { bash, project } = await sandboxedAgent({
      prepare: (_, at) => {
        for (const file of guarded) write(join(at, file), "mine");
      },
    });
    await bash(
      `${guarded.map((file) => `echo x > ${file}; rm -f ${file}; echo x > n; mv n ${file}`).join("; ")}
       mv .vscode v; mkdir -p .claude; echo '{}' > .claude/settings.json; mv .claude c`,
    );
    for (const file of guarded) expect(readFileSync(join(project, file), "utf8"), file).toBe("mine");
    expect(readdirSync(join(project, ".claude"))).toEqual([]);
  });

  test("cannot change a protected file through a link", async () => {
    const { bash, project } = await sandboxedAgent({
      prepare: (_, at) => {
        write(join(at, "shared/mcp.json"), "mine");
        symlinkSync("shared/mcp.json", join(at, ".mcp.json"));
      },
    });
    await bash("echo x > .mcp.json; echo x > shared/mcp.json");
    expect(readFileSync(join(project, "shared/mcp.json"), "utf8")).toBe("mine");
  });

  test("cannot change the user's own programs in ~/bin, unless that is a working directory", async () => {
    for (const [also, expected] of [
      ["", "mine"],
      ["bin", "x\n"],
    ] as const) {
      const { bash, home } = await sandboxedAgent({
        also: [also],
        prepare: (at) => write(join(at, "bin/ls"), "mine"),
      });
      const file = join(home, "bin/ls");
      await bash(`cat ${file} && { echo x > ${file} || mv ${file} ${file}.old || rm ${file}; }`);
      expect(readFileSync(file, "utf8")).toBe(expected);
    }
  });

  test.each([
    { around: "the project", also: [] },
    { around: "the home directory", also: [""] },
  ])("can change ~/bin only while it is a working directory besides $around", async ({ also }) => {
    const { bash, home, workingDirs } = await sandboxedAgent({
      also,
      prepare: (at) => write(join(at, "bin/ls"), "mine"),
    });
    const file = join(home, "bin/ls");
    const changed = async (text: string): Promise<string> => {
      await bash(`echo ${text} > ${file}`);
      return readFileSync(file, "utf8");
    };
    expect(await changed("early")).toBe("mine");
    workingDirs.push(join(home, "bin"));
    expect(await changed("there")).toBe("there\n");
    workingDirs.pop();
    expect(await changed("late")).toBe("there\n");
  });

  test("cannot change protected files of a directory that has just become a working directory", async () => {
    const { bash, home, workingDirs, newFiles } = await sandboxedAgent({
      prepare: (at) => write(join(at, "other/sub/.envrc"), "mine"),
    });
    const other = join(home, "other");
    workingDirs.push(other);
    await bash(`echo x > ${other}/sub/.envrc; echo in > ${other}/sub/made; echo x > .envrc`);
    expect(readFileSync(join(other, "sub/made"), "utf8")).toBe("in\n");
    expect(readFileSync(join(other, "sub/.envrc"), "utf8")).toBe("mine");
    await eventually("the report", () => newFiles.length > 0);
    expect(newFiles).toEqual([".envrc"]);
  });

  test("cannot change a protected file that appeared after the sandbox was opened", async () => {
    const { bash, project } = await sandboxedAgent();
    write(join(project, ".envrc"), "mine");
    await bash("echo x > .envrc");
    expect(readFileSync(join(project, ".envrc"), "utf8")).toBe("mine");
  });

  test("is reported if it creates files from which other programs run commands", async () => {
    const { bash, newFiles } = await sandboxedAgent({
      prepare: (_, at) => write(join(at, "old/.envrc"), ""),
    });
    await bash(`mkdir sub other; echo x > .envrc; git init -q sub; git -C sub config core.fsmonitor evil
      git init -q other; echo fine > plain; git init -q line; echo '[core] fsmonitor = evil' > line/.git/config
      git init -q diff; git -C diff config diff.external evil; git init -q log; git -C log config pager.log evil
      git init -q long; { yes '#' | head -c 2000000; echo '[core] fsmonitor = evil'; } > long/.git/config`);
    await eventually("the report", () => newFiles.length > 0);
    const configs = ["diff", "line", "log", "long", "sub"].map((name) => `${name}/.git/config`);
    expect(newFiles.toSorted()).toEqual([".envrc", ...configs]);
    await bash("echo x > .git; echo x > more");
    await eventually("the second report", () => newFiles.length > 6);
    expect(newFiles.slice(6)).toEqual([".git"]);
  });

  test("runs with hundreds of protected files; git's are protected first", async () => {
    const { bash, project } = await sandboxedAgent();
    await bash(
      "mkdir -p .git/hooks; for i in $(seq 400); do mkdir d$i; : > d$i/.envrc; : > .$i; done; mkdir .vscode",
    );
    expect((await bash("echo fine; echo x > .git/hooks/pre-commit")).content).toContain("fine");
    expect(existsSync(join(project, ".git/hooks/pre-commit"))).toBe(false);
  });

  test("cannot strip files of their protection by creating hundreds of others", async () => {
    const mine = [".envrc", "sub/.claude/settings.json", ".vscode/tasks.json"];
    const { bash, project, newFiles } = await sandboxedAgent({
      prepare: (_, at) => {
        for (const name of mine) write(join(at, name), "mine");
      },
    });
    await bash('for i in $(seq 300); do : > "!$i.code-workspace"; done');
    await eventually("the report", () => newFiles.length > 0);
    await bash(mine.map((name) => `echo evil > ${name}`).join("; "));
    for (const name of mine) expect(readFileSync(join(project, name), "utf8"), name).toBe("mine");
  });

  test("cannot uncover a denied or protected file by creating hundreds of nearer files or directories", async () => {
    const { bash, project, newFiles } = await sandboxedAgent({
      deny: ["Read(.env)"],
      prepare: (_, at) => {
        write(join(at, "deep/er/.env"), "TOP SECRET");
        write(join(at, "deep/er/.envrc"), "mine");
      },
    });
    const isClosed = async (): Promise<void> => {
      expect((await bash("cat deep/er/.env; echo evil > deep/er/.envrc")).content).not.toContain("SECRET");
      expect(readFileSync(join(project, "deep/er/.envrc"), "utf8")).toBe("mine");
    };
    await bash("mkdir $(seq -f d%g 300); for i in d*; do : > $i/.env; done; : > .envrc");
    await eventually("the report", () => newFiles.includes(".envrc"));
    await isClosed();
    await bash("mkdir $(seq -f e%g 2100); : > .tool-versions");
    await eventually("the second report", () => newFiles.includes(".tool-versions"));
    await isClosed();
  });

  test("does not run after its directory was replaced by a link", async () => {
    const { bash, project, home } = await sandboxedAgent();
    mkdirSync(join(home, "other"));
    renameSync(project, join(home, "moved"));
    symlinkSync(join(home, "other"), project);
    expect((await bash("echo x > made")).content).toContain("the sandbox does not work");
    expect(readdirSync(join(home, "other"))).toEqual([]);
  });

  test("has no secret variable, no socket of the session and no terminal of its parent", async () => {
    const { bash } = await sandboxedAgent({
      env: {
        GITHUB_TOKEN: "abcdefgh",
        SSH_AUTH_SOCK: "/run/x",
        TMUX: "/tmp/tmux-0/default,1,0",
        PLAIN: "kept",
      },
    });
    const { content } = await bash("env; ls /run/user 2>&1; ls /tmp");
    expect(content).toContain("PLAIN=kept");
    expect(content).not.toMatch(/GITHUB_TOKEN|SSH_AUTH_SOCK|^TMUX=/m);
    expect(content).not.toContain("tmux-");
  });

  test("fails with SPAWN_FAILED if its sandbox cannot be set up", async () => {
    const opened = sandboxedAgent({ prepare: (_, at) => rmSync(at, { recursive: true }) });
    await expect(opened).rejects.toMatchObject({ code: "SPAWN_FAILED" });
  });

  test("leaves no file behind when its sandbox is closed", async () => {
    const agent = await sandboxedAgent();
    const { args } = await agent.sandbox.wrap({ file: "true", args: [], env: agent.env }, agent.project);
    const own = dirname(args[args.indexOf("/tmp") - 1] ?? "");
    expect(statSync(own).mode & 0o77).toBe(0);
    await agent.sandbox.close();
    expect(existsSync(own)).toBe(false);
  });
});
