import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { BackgroundTasks } from "../../../src/agent/background/background-tasks.ts";
import { outputDirectory } from "../../../src/agent/background/output-file.ts";
import type { ToolContext, ToolResult } from "../../../src/agent/tool.ts";
import { bashTool } from "../../../src/agent/tools/bash.ts";
import { scratchDirectory } from "../../../src/os/files/app-directories.ts";
import { startTimeOf } from "../../../src/os/process/identity.ts";
import { hasShell } from "../../support/attack/throwaway.ts";
import { GIT_IDENTITY, git } from "../../support/files/git.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { expireAfter } from "../../support/timing/held-timer.ts";

let cwd: string;
let env: Record<string, string | undefined>;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "teams-bash-"));
  env = { PATH: process.env.PATH, HOME: cwd };
});
afterEach(() => {
  // Processes that a broken tool would leave running.
  for (const name of ["child", "parent"])
    if (pidIn(name) > 0 && startTimeOf(pidIn(name))) process.kill(pidIn(name), "SIGKILL");
  rmSync(cwd, { recursive: true, force: true });
});

function bash(
  command: string,
  more: Partial<ToolContext> & { timeout?: number; run_in_background?: boolean } = {},
): Promise<ToolResult> {
  const { timeout, run_in_background = false, ...context } = more;
  const input = { command, run_in_background, ...(timeout === undefined ? {} : { timeout }) };
  const signal = new AbortController().signal;
  return bashTool.execute(input, {
    cwd,
    env,
    signal,
    seenFiles: new Map(),
    background: new BackgroundTasks({ cwd, secrets: [] }),
    ...context,
  });
}

const pidIn = (name: string): number => {
  try {
    return Number(readFileSync(join(cwd, name), "utf8"));
  } catch {
    return 0;
  }
};

describe("Bash tool", () => {
  test("returns both streams and the exit code, as text and as data", async () => {
    const result = await bash("echo out; echo err >&2; exit 3");
    expect(result).toEqual({
      content: "Exit code 3\nout\nerr",
      isError: true,
      data: { stdout: "out\n", stderr: "err\n", exitCode: 3 },
    });
    expect(await bash("true")).toMatchObject({ content: "(no output)", isError: false });
  });

  test("strips control sequences from the text, but not from the data", async () => {
    const result = await bash("printf '\\033[31mred\\033[0m\\0\\a done'");
    expect(result).toMatchObject({ content: "red done", data: { stdout: "\x1b[31mred\x1b[0m\0\x07 done" } });
  });

  test("runs commands with bash in the working directory", async () => {
    expect((await bash("[[ x == x ]] && echo bash; pwd -P")).content).toContain("bash\n/");
    expect((await bash('basename "$PWD"')).content).toBe(cwd.split("/").at(-1));
  });

  test("runs commands in their own session, without a terminal or input", async () => {
    const { content } = await bash("cat; tty; (: </dev/tty) 2>&1; ps -o sid= -p $$ | tr -d ' '; echo $$");
    const lines = content.split("\n");
    expect(content).toContain("not a tty");
    expect(content).toMatch(/\/dev\/tty: No such device|Device not configured/);
    expect(lines.at(-1)).toBe(lines.at(-2));
  });

  test("hides the model's credentials from the environment of commands", async () => {
    env = {
      ...env,
      ANTHROPIC_API_KEY: "k",
      ANTHROPIC_AUTH_TOKEN: "t",
      ANTHROPIC_CUSTOM_HEADERS: "h",
      ANTHROPIC_BASE_URL: "u",
      TEAMS_AGENT: "ada@team",
    };
    const { content } = await bash("env | grep -E 'ANTHROPIC|TEAMS_[^C]' | sort");
    expect(content).toBe("ANTHROPIC_BASE_URL=u\nTEAMS_AGENT=ada@team");
  });

  for (const [shell, set] of [
    ["bash", "shopt -s dotglob cdable_vars; set -k"],
    ["zsh", "setopt extended_glob glob_dots cdable_vars magic_equal_subst rc_quotes"],
  ] as const)
    test.skipIf(!hasShell(shell))(
      `expands patterns and runs cd as the permission rules assume, whatever the user's ${shell} sets`,
      async () => {
        for (const name of [".hidden", "b/.b"]) {
          mkdirSync(dirname(join(cwd, name)), { recursive: true });
          writeFileSync(join(cwd, name), "");
        }
        mkdirSync(join(cwd, "far/away"), { recursive: true });
        const file = join(cwd, `snapshot-${shell}-1-a.sh`);
        writeFileSync(file, set);
        const context = {
          snapshot: async () => file,
          env: { ...env, CDPATH: join(cwd, "far"), GLOBIGNORE: "x", away: join(cwd, "far") },
        };
        expect((await bash("echo *", context)).content.trim()).toBe(`b far snapshot-${shell}-1-a.sh`);
        expect((await bash("echo .h^x a=~/x", context)).content).toMatch(/^\.h\^x a=/);
        // With rc_quotes, sed 's''/a/''/''e' runs what our reader takes for text.
        expect((await bash("echo 'a''b'", context)).content.trim()).toBe("ab");
        expect((await bash("printenv AFTER AFTER=1 || echo unset", context)).content.trim()).toBe("unset");
        expect((await bash("cd away && pwd", context)).isError).toBe(true);
      },
    );

  // Unless no_equals is set, zsh expands =name to the path of that program (attack: `echo x > =mytool`).
  test.skipIf(!hasShell("zsh")).each([
    ["a redirection", "echo x > =mytool"],
    ["a redirection in a subshell", "(echo x >| =mytool)"],
    ["a redirection in a substitution", "echo $(echo x > =mytool)"],
    ["a word", "tee =mytool <<<x >/dev/null"],
    ["a word after an option", "dd of==mytool 2>/dev/null <<<x"],
  ])("does not overwrite a program in PATH through %s in zsh", async (_, command) => {
    const [snapshot, program] = [join(cwd, "snapshot-zsh-1-a.sh"), join(cwd, "bin/mytool")];
    writeFileSync(snapshot, "setopt equals magic_equal_subst\n");
    mkdirSync(dirname(program));
    writeFileSync(program, "#!/bin/sh\necho mine\n", { mode: 0o755 });
    env.PATH = `${dirname(program)}:${env.PATH}`;
    await bash(command, { snapshot: async () => snapshot });
    expect(readFileSync(program, "utf8")).toContain("mine");
    expect(readFileSync(join(cwd, "=mytool"), "utf8")).toBe("x\n");
    const { content } = await bash("mytool; echo $ZSH_VERSION", { snapshot: async () => snapshot });
    expect(content).toMatch(/^mine\n\d/);
  });

  // Without no_bare_glob_qual, zsh runs the code in the qualifier of a pattern (attack: `echo *(e:'rm victim':)`).
  test.skipIf(!hasShell("zsh")).each(["echo *(e:'touch ran':)", "ls b*(.e_touch\\ ran_)", "echo *(+touch)"])(
    "does not run a command in the pattern of %s in zsh",
    async (command) => {
      const snapshot = join(cwd, "snapshot-zsh-1-a.sh");
      writeFileSync(snapshot, "setopt bare_glob_qual\n");
      writeFileSync(join(cwd, "b"), "");
      await bash(command, { snapshot: async () => snapshot });
      expect(existsSync(join(cwd, "ran"))).toBe(false);
      const { content } = await bash("echo $ZSH_VERSION", { snapshot: async () => snapshot });
      expect(content).toMatch(/^\d/);
    },
  );

  describe("without a terminal", () => {
    const HINT = "There is no terminal for an editor";
    /** An editor that waits for a person who cannot see it. */
    const hanging = (): string => {
      const file = join(cwd, "editor");
      writeFileSync(file, "#!/bin/sh\nexec sleep 600\n", { mode: 0o755 });
      return file;
    };
    const repository = (): string => {
      const editor = hanging();
      Object.assign(env, GIT_IDENTITY, { EDITOR: editor, VISUAL: editor, GIT_EDITOR: editor, PAGER: editor });
      git(cwd, "init", "--quiet");
      git(cwd, "commit", "--quiet", "--allow-empty", "--message", "one");
      git(cwd, "commit", "--quiet", "--allow-empty", "--message", "two");
      for (const name of ["core.editor", "sequence.editor", "core.pager"]) git(cwd, "config", name, editor);
      return editor;
    };

    test.each([
      "git commit --allow-empty --amend",
      "git rebase -i HEAD~1",
      "git rebase --root -i",
      "git tag -a v1",
      "EDITOR= git commit --allow-empty",
    ])("%s fails at once, and says why", async (command) => {
      repository();
      const { content, isError } = await bash(command, { timeout: 240_000 });
      expect([isError, content]).toEqual([true, expect.stringContaining(HINT)]);
    });

    test.each([
      "EDITOR=true git commit --allow-empty --amend",
      "GIT_EDITOR=: git rebase -i HEAD~1",
      "EDITOR='sed -i.bak \"s/two/a three/\"' git commit --allow-empty --amend && git log -1 --format=%s | grep 'a three'",
      "GIT_SEQUENCE_EDITOR=true git rebase -i HEAD~1",
      "git -p log -1",
    ])("%s works: its editor needs no terminal", async (command) => {
      repository();
      expect(await bash(command, { timeout: 240_000 })).toMatchObject({ isError: false });
    });

    test("an editor set in the shell's startup files is overridden, in bash and zsh", async () => {
      const editor = repository();
      const exports = `export EDITOR='${editor}' VISUAL='${editor}' GIT_EDITOR='${editor}' GPG_TTY=/dev/tty\n`;
      const show = 'git commit --allow-empty --amend; echo "$EDITOR $VISUAL [$GPG_TTY]"';
      env.BASH_ENV = join(cwd, "start");
      writeFileSync(env.BASH_ENV, exports);
      writeFileSync(join(cwd, ".zshenv"), exports);
      for (const shell of ["", "bash", "zsh"].filter((name) => name === "" || hasShell(name))) {
        const snapshot = join(cwd, `snapshot-${shell}-1-a.sh`);
        writeFileSync(snapshot, exports);
        const context = shell === "" ? {} : { snapshot: async () => snapshot };
        const { content } = await bash(show, { timeout: 240_000, ...context });
        expect(content, shell).toContain(HINT);
        expect(content.trim(), shell).toMatch(/^false # [^/]*\[\]$/m);
      }
    });

    test("a background command that needs an editor ends too", async () => {
      repository();
      const background = new BackgroundTasks({ cwd, secrets: [] });
      await bash("git commit --allow-empty --amend", { background, run_in_background: true });
      await eventually("its end", () => background.running === 0);
    });
  });

  test("sources the shell snapshot before the command, unless it is missing or of another shell", async () => {
    const snapshot = join(cwd, "snapshot-bash-1-a.sh");
    writeFileSync(
      snapshot,
      "hello() { echo hello $1; }\nshopt -s expand_aliases\nalias hi='hello you'\necho noise\n",
    );
    expect((await bash("hi; hello 'a; b'", { snapshot: async () => snapshot })).content).toBe(
      "hello you\nhello a; b",
    );
    expect(
      (await bash("echo it runs", { snapshot: async () => join(cwd, "snapshot-bash-2-gone.sh") })).content,
    ).toBe("it runs");
    expect(
      (await bash("echo plain", { snapshot: async () => join(cwd, "snapshot-fish-3-b.sh") })).content,
    ).toBe("plain");
  });

  test("refuses a command longer than the system's limit and suggests Write", async () => {
    const result = await bash(`: ${"x".repeat(3_000_000)}`);
    expect(result.isError).toBe(true);
    expect(result.content).toMatch(/longer than the system allows; nothing was run.*with Write/);
  });

  test("refuses to run in a directory that no longer exists", async () => {
    const gone = join(cwd, "gone");
    expect((await bash("pwd", { cwd: gone })).content).toContain("no longer exists");
  });

  test("truncates the text at 30,000 characters and keeps the whole output in a private file", async () => {
    const { content, data } = await bash("head -c 200000 /dev/zero | tr '\\0' x; echo end");
    const file = /whole output is in (\S+)\)$/.exec(content)?.[1] ?? "";
    try {
      expect(content.slice(0, 30_001)).toMatch(/^x{30000}\n/);
      expect(content.length).toBeLessThan(30_300);
      expect(readFileSync(file, "utf8")).toBe(`${"x".repeat(200_000)}end\n`);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(data).toMatchObject({ exitCode: 0 });
    } finally {
      rmSync(join(file, "../.."), { recursive: true, force: true });
    }
  });

  test("keeps the whole outputs of two calls in different files", async () => {
    onTestFinished(() => rmSync(dirname(outputDirectory(cwd)), { recursive: true, force: true }));
    for (const letter of ["x", "y"]) {
      const { content } = await bash(`head -c 40000 /dev/zero | tr '\\0' ${letter}`);
      const file = /whole output is in (\S+)\)$/.exec(content)?.[1] ?? "";
      expect(readFileSync(file, "utf8")).toBe(letter.repeat(40_000));
    }
  });

  test("refreshes a sandbox that failed, since it may work for the next command", async () => {
    let refreshed = 0;
    const sandbox = {
      wrap: () => Promise.reject(new Error("a directory is gone")),
      refresh: () => {
        refreshed += 1;
      },
      controls: () => false,
    };
    const { content } = await bash("echo x > made", { sandbox });
    expect(content).toContain("nothing was run: the sandbox does not work (a directory is gone)");
    expect([existsSync(join(cwd, "made")), refreshed]).toEqual([false, 1]);
  });

  test("reports that the whole output could not be kept, without failing the command", async () => {
    const inTheWay = dirname(outputDirectory(cwd));
    mkdirSync(scratchDirectory(), { recursive: true, mode: 0o700 });
    writeFileSync(inTheWay, "");
    onTestFinished(() => rmSync(inTheWay, { force: true }));
    const { content, isError } = await bash("head -c 40000 /dev/zero | tr '\\0' x");
    expect(content).toMatch(/x\n… \(40000 characters in all; the rest could not be saved: ENOTDIR/);
    expect(isError).toBe(false);
  });

  test("keeps outputs of different working directories in different directories", () => {
    expect(outputDirectory("/p/a-b")).not.toBe(outputDirectory("/p/a/b"));
    expect(outputDirectory("/p/a/b")).toBe(join(scratchDirectory(), "-p-a-b", "tasks"));
    expect(outputDirectory(`/${"long/".repeat(100)}`).length).toBeLessThan(300);
  });

  test("redacts secrets in the output file, even if they arrive in pieces (S75)", async () => {
    env = { ...env, SOME_TOKEN: "hunter2-hunter2" };
    const command = "head -c 40000 /dev/zero | tr '\\0' x; printf %s hunter2-; sleep 0.05; echo hunter2";
    const { content } = await bash(`${command}; echo; ${command}`);
    const file = /whole output is in (\S+)\)$/.exec(content)?.[1] ?? "";
    onTestFinished(() => rmSync(join(file, "../.."), { recursive: true, force: true }));
    const x = "x".repeat(40_000);
    expect(readFileSync(file, "utf8")).toBe(`${x}[secret]\n\n${x}[secret]\n`);
  });

  test("keeps at most 100,000 characters of output as data", async () => {
    const { data } = await bash("yes | head -c 3000000");
    rmSync(dirname(outputDirectory(cwd)), {
      recursive: true,
      force: true,
    });
    expect((data as { stdout: string }).stdout).toHaveLength(100_000);
  });

  test("does not wait for background children of a command", async () => {
    // Longer than the time limit of a test.
    const { content } = await bash("echo started; sleep 600 & echo $! > pid");
    process.kill(pidIn("pid"), "SIGKILL");
    expect(content).toBe("started");
  });
});

describe("Bash tool, ending a command", () => {
  const stubborn = "trap '' TERM; (trap '' TERM; echo $BASHPID > child; sleep 600) & echo $$ > parent; wait";
  const started = () => eventually("both pids", () => pidIn("child") > 0 && pidIn("parent") > 0);
  const gone = (): boolean =>
    startTimeOf(pidIn("child")) === undefined && startTimeOf(pidIn("parent")) === undefined;

  test("kills the whole process group at the timeout, including processes that ignore SIGTERM", async () => {
    const result = await expireAfter(300, started, () => bash(stubborn, { timeout: 300 }));
    expect(result).toMatchObject({
      isError: true,
      content: expect.stringContaining("Not done after 300 ms"),
    });
    await eventually("the end of both processes", gone);
  });

  test("kills the process group on interrupt and keeps the output so far", async () => {
    const controller = new AbortController();
    const running = bash(`echo before; ${stubborn}`, { signal: controller.signal });
    await started();
    controller.abort();
    expect((await running).content).toMatch(/^Interrupted; .*\nbefore$/);
    await eventually("the end of both processes", gone);
  });

  test("kills descendants in other sessions, but not a tmux server or its panes", async () => {
    const socket = join(cwd, "s");
    const tmux = (...words: string[]): string =>
      execFileSync("tmux", ["-S", socket, ...words], { encoding: "utf8" }).trim();
    const controller = new AbortController();
    const panes = `tmux -S '${socket}' -f /dev/null new-session -d 'sleep 600'`;
    const away = "(setsid bash -c 'echo $$ > parent; exec sleep 600' >/dev/null 2>&1 &)";
    const running = bash(`${panes}; ${away}; echo $$ > child; sleep 600`, { signal: controller.signal });
    await started();
    try {
      controller.abort();
      await running;
      expect(gone()).toBe(true);
      expect(startTimeOf(Number(tmux("display-message", "-p", "#{pane_pid}")))).toBeDefined();
    } finally {
      tmux("kill-server");
    }
  });
});
