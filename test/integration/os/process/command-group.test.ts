import { expect, test } from "vitest";
import { runCommandGroup } from "../../../../src/os/process/command-group.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

/** Agents, hooks, a person's `!command`, checks and setup commands all run by it. */
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

// vim reads keys from stderr once stdin has ended.
test.each([1, 2])("runCommandGroup › gives a program no keys to wait for in its output %i", async (fd) => {
  const script = `read -r key <&${fd} || echo "no key" >&${fd}; exit 3`;
  let output = "";
  const end = await runCommandGroup("/bin/sh", ["-c", script], {
    cwd: temporaryDirectory(),
    env: { PATH: process.env.PATH },
    timeoutMs: 180_000,
    signal: new AbortController().signal,
    onOutput: (_, bytes) => {
      output += bytes.toString();
    },
  });
  expect([end, output]).toEqual([{ code: 3, signal: undefined }, "no key\n"]);
});
