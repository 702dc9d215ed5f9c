import { expect, onTestFinished, test, vi } from "vitest";
import { type CommandEnd, runCommandGroup } from "../../../../src/os/process/command-group.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

// Agents, hooks, a person's `!command`, checks and setup commands all run through runCommandGroup.
test("runCommandGroup › gives a command no editor, pager or question that waits for a terminal", async () => {
  let output = "";
  const shown = ["$EDITOR", "$VISUAL", "$PAGER", "$GIT_TERMINAL_PROMPT", "[$GPG_TTY]", "$KEPT"];
  const end = await runCommandGroup(
    "/bin/sh",
    ["-c", `printf '%s\\n' ${shown.map((one) => `"${one}"`).join(" ")}`],
    {
      cwd: temporaryDirectory(),
      env: { PATH: process.env.PATH, EDITOR: "vim", PAGER: "less", GPG_TTY: "/dev/pts/1", KEPT: "kept" },
      timeoutMs: 180_000,
      signal: new AbortController().signal,
      onOutput: (_, bytes) => {
        output += bytes.toString();
      },
    },
  );
  expect(end.code).toBe(0);
  const [editor, visual, ...rest] = output.trim().split("\n");
  expect([editor, visual]).toEqual([expect.stringMatching(/^false/), expect.stringMatching(/^false/)]);
  expect(rest).toEqual(["cat", "0", "[]", "kept"]);
});

// As sudo does: it runs as root, so it gets no signal of this user.
test("runCommandGroup › returns at the end of its time although a program may not be killed, and names it", async () => {
  const spy = vi.spyOn(process, "kill").mockImplementation(() => {
    throw Object.assign(new Error("kill EPERM"), { code: "EPERM" });
  });
  let pid = 0;
  onTestFinished(() => {
    spy.mockRestore();
    // 0 would be the group of this process.
    if (pid > 0) process.kill(-pid, "SIGKILL");
  });
  const end = await runCommandGroup("sleep", ["600"], {
    cwd: temporaryDirectory(),
    env: { PATH: process.env.PATH },
    timeoutMs: 10,
    signal: new AbortController().signal,
    onStarted: (started) => {
      pid = started;
    },
    onOutput: () => undefined,
  });
  expect(end).toEqual({ code: undefined, signal: undefined, failure: "timed-out", left: [pid] });
});

/** Runs a program without input. @returns how it ended, and its output */
async function ran(file: string, ...args: readonly string[]): Promise<readonly [CommandEnd, string]> {
  let output = "";
  const end = await runCommandGroup(file, args, {
    cwd: temporaryDirectory(),
    env: { PATH: process.env.PATH },
    timeoutMs: 180_000,
    signal: new AbortController().signal,
    onOutput: (_, bytes) => {
      output += bytes.toString();
    },
  });
  return [end, output];
}

// vim reads keys from stderr once stdin has ended.
test("runCommandGroup › does not let a program wait for keys on its stderr", async () => {
  const script = 'read -r key <&2 || echo "no key" >&2; exit 3';
  expect(await ran("/bin/sh", "-c", script)).toEqual([{ code: 3, signal: undefined }, "no key\n"]);
});

// asyncio.connect_write_pipe watches stdout, and drops data that is written after its end.
test("runCommandGroup › keeps stdout open for a program that watches for its reader's end", async () => {
  const script = `
    const { Socket } = require("node:net");
    const watched = (fd) => new Socket({ fd, readable: true, writable: true, allowHalfOpen: true }).resume();
    let state = "open";
    watched(1).once("end", () => { state = "ended"; });
    const report = () => { require("node:fs").writeSync(1, state); process.exit(); };
    watched(2).once("end", () => setImmediate(report));`;
  expect(await ran(process.execPath, "-e", script)).toEqual([{ code: 0, signal: undefined }, "open"]);
});
