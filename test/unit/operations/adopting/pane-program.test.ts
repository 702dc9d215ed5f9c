import { describe, expect, it } from "vitest";
import { isBareShell, programName } from "../../../../src/adapter/keys/program-words.ts";
import { foregroundProcess } from "../../../../src/operations/adopting/pane-program.ts";
import type { ProcessRow } from "../../../../src/os/process/process-table.ts";

describe("the program of a pane", () => {
  it.each([
    [["-bash"], true],
    [["/bin/zsh", "-l"], true],
    [["fish"], true],
    [["bash", "--norc", "-i"], true],
    [["bash", "review.sh"], false],
    [["sh", "-c", "aider --model x"], false],
    [["aider"], false],
    [["node", "/usr/bin/codex"], false],
    [["pushd"], false],
    [["env", "-i", "PS1=$", "bash"], true],
    [["env", "LANG=C", "aider"], false],
    [["busybox", "sh"], true],
    [["bash", "--rcfile", "/tmp/rc"], true],
    [["zsh", "-o", "vi"], true],
    [["bash", "-lic", "aider"], false],
    [["dash", "-s", "word"], true],
  ])("knows whether %j is a shell at its prompt", (words, isShell) => {
    expect(isBareShell(words)).toBe(isShell);
  });

  it.each([
    [["/usr/bin/node", "--no-warnings", "/usr/lib/codex.mjs", "resume"], "codex"],
    [["python3", "/opt/aider/bin/aider"], "aider"],
    [["/opt/bin/goose", "session"], "goose"],
    [["bash", "review.sh"], "review"],
    [["node"], "node"],
    [["python3", "-c", "import os\nos.read(0, 1)"], "python3"],
    [["python3", "-m", "aider", "--dark"], "aider"],
    [["python3", "-W", "ignore", "chat.py"], "chat"],
    [["node", "-r", "./hook.js", "chat.mjs"], "chat"],
    [[""], "program"],
  ])("calls %j %s", (words, name) => {
    expect(programName(words)).toBe(name);
  });

  const row = (pid: number, more: Partial<ProcessRow> = {}): ProcessRow => ({
    ...{ pid, ppid: 1, pgid: pid, sid: 10, procStart: "1", name: "x" },
    ...more,
  });

  it("is the leader of the foreground process group of its session, or of its terminal on macOS", () => {
    const other = row(99, { sid: 98, foreground: true });
    const linux = [row(10), row(20, { foreground: true }), row(21, { pgid: 20, foreground: true }), other];
    expect(foregroundProcess({ pid: 10 }, linux)?.pid).toBe(20);
    const tty = (pid: number, name: string, more: Partial<ProcessRow> = {}): ProcessRow =>
      row(pid, { sid: pid, tty: name, ...more });
    const macOs = [
      tty(10, "ttys1"),
      tty(20, "ttys1", { foreground: true }),
      tty(9, "ttys2", { foreground: true }),
    ];
    expect(foregroundProcess({ pid: 10 }, macOs)?.pid).toBe(20);
  });

  it("is unknown when the leader has ended, or the pane is gone", () => {
    expect(
      foregroundProcess({ pid: 10 }, [row(10), row(21, { pgid: 20, foreground: true })]),
    ).toBeUndefined();
    expect(foregroundProcess({ pid: 10 }, [row(20, { foreground: true })])).toBeUndefined();
  });
});
