import { expect, test } from "vitest";
import type { ProcessRow } from "../../../../src/os/process/process-table.ts";
import { treeMembers } from "../../../../src/os/process/process-tree.ts";

const ROOT = { root: { pid: 10, procStart: "s10" }, marker: "m" };

const row = (pid: number, ppid: number, more: Partial<ProcessRow> = {}): ProcessRow => ({
  pid,
  ppid,
  pgid: pid,
  sid: pid,
  procStart: `s${pid}`,
  name: "sh",
  ...more,
});

test.each<[string, ProcessRow[], number[], Map<number, string>, number[]]>([
  [
    "includes its descendants",
    [row(10, 1), row(11, 10), row(12, 11), row(20, 1)],
    [],
    new Map(),
    [10, 11, 12],
  ],
  [
    "includes processes of its session",
    [row(10, 1), row(13, 1, { sid: 10 }), row(14, 1, { sid: 99 })],
    [],
    new Map(),
    [10, 13],
  ],
  [
    "includes marked processes and their descendants",
    [row(10, 1), row(30, 1), row(31, 30)],
    [30],
    new Map(),
    [10, 30, 31],
  ],
  [
    "includes processes of its session after its root has ended",
    [row(13, 1, { sid: 10 }), row(15, 13)],
    [],
    new Map(),
    [13, 15],
  ],
  [
    "includes processes of its terminal if sessions are unknown",
    [row(10, 1, { tty: "s1" }), row(16, 1, { tty: "s1" }), row(17, 1, { tty: "s2" }), row(18, 1)],
    [],
    new Map(),
    [10, 16],
  ],
  [
    "excludes a terminal that now belongs to another process with the same pid",
    [row(10, 1, { procStart: "later", tty: "s1" }), row(16, 1, { tty: "s1" })],
    [],
    new Map(),
    [],
  ],
  [
    "excludes another process that now has its pid",
    [row(10, 1, { procStart: "later" }), row(11, 10, { sid: 10 })],
    [],
    new Map(),
    [],
  ],
  [
    "includes processes found earlier if they are still the same",
    [row(40, 1), row(41, 1)],
    [],
    new Map([
      [40, "s40"],
      [41, "earlier"],
    ]),
    [40],
  ],
  [
    "excludes a tmux server and the user's panes in it",
    [row(10, 1), row(50, 10, { name: "tmux: server" }), row(51, 50), row(52, 10)],
    [50, 51],
    new Map(),
    [10, 52],
  ],
  [
    "excludes marked panes of a tmux server",
    [row(10, 1), row(60, 1, { name: "tmux: server" }), row(61, 60)],
    [60, 61],
    new Map(),
    [10],
  ],
])("treeMembers %s", (_, table, marked, earlier, expected) => {
  const members = treeMembers(table, ROOT, earlier, (pid) => marked.includes(pid));
  expect(members.map(({ pid }) => pid).sort()).toEqual(expected);
});

test("treeMembers of an agent in another process includes only marked descendants of that process, even in panes", () => {
  const table = [
    row(60, 1, { name: "tmux: server" }),
    row(61, 60),
    row(62, 61),
    row(63, 61),
    row(64, 62),
    row(65, 60),
    row(66, 61, { name: "tmux: server" }),
    row(67, 66),
    row(68, 1),
  ];
  const marked = new Set([62, 65, 66, 67, 68]);
  const tree = { root: { pid: 0, procStart: "" }, host: { pid: 61, procStart: "s61" }, marker: "m" };
  const members = treeMembers(table, tree, new Map(), (pid) => marked.has(pid));
  expect(members.map(({ pid }) => pid).sort()).toEqual([62, 64, 68]);
  const other = { ...tree, host: { pid: 61, procStart: "another" } };
  expect(treeMembers(table, other, new Map(), (pid) => marked.has(pid)).map(({ pid }) => pid)).toEqual([68]);
});
