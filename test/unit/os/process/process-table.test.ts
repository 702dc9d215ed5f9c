import { describe, expect, test } from "vitest";
import { pidsShownWith, rowOfPs, rowOfStat } from "../../../../src/os/process/process-table.ts";

describe("a line of the process table", () => {
  test("is read from /proc even if the name contains parentheses and spaces", () => {
    const stat = `42 (a) b (c) S 7 8 9 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2`;
    expect(rowOfStat(stat)).toEqual({
      pid: 42,
      ppid: 7,
      pgid: 8,
      sid: 9,
      withoutTerminal: true,
      procStart: "987654",
      name: "a) b (c",
    });
  });

  test("is read from the output of ps on macOS", () => {
    const line = "  501   1   501 ttys003  Ss   Sat Nov  1 09:06:51 2026     /usr/local/bin/tmux new -s x";
    expect(rowOfPs(line)).toEqual({
      pid: 501,
      ppid: 1,
      pgid: 501,
      sid: 501,
      tty: "ttys003",
      procStart: "Sat Nov  1 09:06:51 2026",
      name: "/usr/local/bin/tmux new -s x",
    });
  });

  test("has no terminal if the process has none", () => {
    expect(rowOfPs("  501   1   501 ??       Ss   Sat Nov  1 09:06:51 2026     /bin/sh")).not.toHaveProperty(
      "tty",
    );
  });

  test("is in the foreground when its process group has the terminal's input", () => {
    const proc = (group: number) =>
      rowOfStat(`42 (x) S 7 8 9 34816 ${group} 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2`);
    const ps = (state: string) =>
      rowOfPs(`  501   1   501 ttys003  ${state}   Sat Nov  1 09:06:51 2026     /bin/sh`);
    expect([proc(8)?.foreground, ps("S+")?.foreground]).toEqual([true, true]);
    expect([proc(77)?.foreground, ps("S")?.foreground]).toEqual([undefined, undefined]);
  });

  test("is undefined for a zombie and for invalid text", () => {
    expect(rowOfStat("42 (x) Z 7 8 9 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2")).toBeUndefined();
    expect(rowOfPs("  501   1   501 ??  Z+   Sat Nov 21 09:06:51 2026 (defunct)")).toBeUndefined();
    expect(rowOfPs("rubbish")).toBeUndefined();
  });
});

test("pidsShownWith matches whole environment entries in the output of ps", () => {
  const text = [
    "  11 /bin/node agent.js HOME=/root TEAMS_INSTANCE=abc",
    "  12 /bin/cat TEAMS_INSTANCE=abc TERM=xterm",
    "  13 /bin/cat TEAMS_INSTANCE=abcd X_TEAMS_INSTANCE=abc",
    "",
  ].join("\n");
  expect([...pidsShownWith(text, "TEAMS_INSTANCE=abc")]).toEqual([11, 12]);
});
