import { expect, test } from "vitest";
import { linesByPid, startedWithOf } from "../../../../src/os/process/started-with.ts";

test("the output of ps › is read as words with the environment after them, by pid", () => {
  const lines = linesByPid("   11 /bin/claude --agent-id ada@crew HOME=/root\n 1204 /bin/cat\n");
  const started = startedWithOf(lines.get(11) ?? "");
  expect(started.words.slice(0, 3)).toEqual(["/bin/claude", "--agent-id", "ada@crew"]);
  expect([started.env("HOME"), started.env("TMUX")]).toEqual(["/root", undefined]);
  expect(lines.get(1204)).toBe("/bin/cat");
});

test("the output of ps › gives the variable of the environment when an argument looks the same", () => {
  expect(startedWithOf("/bin/claude HOME=/forged HOME=/root").env("HOME")).toBe("/root");
});
