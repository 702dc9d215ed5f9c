import { spawnSync } from "node:child_process";
import { lstatSync, readdirSync, rmdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemCode } from "../../../../src/errors.ts";
import { unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { addTask } from "../../../../src/team/tasks/update-task.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { type Script, script } from "../../../support/processes/script-process.ts";
import { seeded } from "../../../support/random/seeded-random.ts";
import { testTeam } from "../../../support/team/test-team.ts";

/** Runs `"$@"` after some shell commands; `$1` is the root that the script gets. */
const shell = (first: string): readonly string[] => ["sh", "-c", `${first}; exec "$@"`, "sh"];
/** Runs in a private mount namespace. The user must be allowed to create one. */
const mounted = (first: string): readonly string[] => [
  "unshare",
  "-rm",
  "sh",
  "-ec",
  `${first}; exec "$@"`,
  "sh",
];

const SMALL = "size=400k,nr_inodes=60";
const onSmallDisk = script("store/operations-under-fault", mounted(`mount -t tmpfs -o ${SMALL} none "$3"`));
const onReadOnly = script(
  "store/operations-under-fault",
  mounted('mount --bind "$3" "$3"; mount -o remount,bind,ro "$3"'),
);
const withoutRoom = script("store/operations-under-fault", shell("ulimit -f 0"));
const withUmask0 = script("store/operations-under-fault", shell("umask 0"));
const withUmask777 = script("store/operations-under-fault", shell("umask 0777"));
const withFewFiles = script("store/operations-under-fault", shell("ulimit -n 40"));
const sendMany = script("team/send-many");

const MAY_MOUNT =
  spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "none", "/tmp"], { stdio: "ignore" }).status === 0;

interface Report {
  /** `done`, an error code, or the system's error message. */
  readonly during: Readonly<Record<string, string>>;
  readonly changed: readonly string[];
  readonly over?: Readonly<Record<string, string>>;
  readonly there: { readonly send: number; readonly create: number };
}

async function reportOf(running: Script): Promise<Report> {
  return JSON.parse(await running.line());
}

async function someTeam(): Promise<TeamRef> {
  const ref = await testTeam(["a"]);
  await sendMessage(ref, { from: "b", to: "a", text: "old" });
  for (const subject of ["one", "two"]) await addTask(ref, "b", { subject });
  return ref;
}

/**
 * Expects that a refused change reports a code and leaves no lock, no half-written file and no false success.
 */
function expectRefused({ during, changed }: Report, code = "STORAGE_ERROR"): void {
  for (const [change, result] of Object.entries(during)) {
    expect(result, change).toMatch(new RegExp(`^(${code}$|E[A-Z]{3,}: )`));
  }
  // Marking as read first records the messages; a directory created for a file stays.
  const expected = /^teams\/crew\/(journal\.jsonl|requests|run|run\/a)$/;
  expect(changed.filter((path) => !expected.test(path))).toEqual([]);
}

function expectDoneOnce({ during, over, there }: Report): void {
  for (const change of ["send", "create"] as const) {
    const times = [during, over].filter((result) => result?.[change] === "done").length;
    expect(there[change], change).toBe(times);
  }
}

test.skipIf(!MAY_MOUNT).each([
  ["room", "full"],
  ["inodes", "nodes"],
])(
  "full disk › without %s every change is refused, and works again once there is space (S25)",
  async (_what, fault) => {
    const report = await reportOf(onSmallDisk(temporaryDirectory(), fault));
    expectRefused(report);
    expect(Object.values(report.over ?? {})).toEqual(Object.keys(report.during).map(() => "done"));
    expectDoneOnce(report);
  },
);

test("file size limit › refuses every change without claiming success (S25)", async () => {
  const ref = await someTeam();
  const report = await reportOf(withoutRoom(ref.home.root, "size"));
  expectRefused(report);
  await sendMessage(ref, { from: "b", to: "a", text: "new" });
  expect((await unreadMessages(ref, "a")).map(({ message }) => message.text)).toEqual(["old", "new"]);
});

test.skipIf(!MAY_MOUNT)(
  "read-only file system › refuses every change without claiming success (S25)",
  async () => {
    const ref = await someTeam();
    const report = await reportOf(onReadOnly(ref.home.root, "read-only"));
    expectRefused(report);
    expect(report.changed).toEqual([]);
  },
);

test.each([0, 1, 2, 3, 5])(
  "file descriptors › with %i left each change is done or refused, never half done, and works again with more (S25)",
  async (left) => {
    const ref = await someTeam();
    const report = await reportOf(withFewFiles(ref.home.root, `files-${left}`));
    if (left === 0) expectRefused(report, "PERMISSION_DENIED");
    for (const result of Object.values(report.during))
      expect(result).toMatch(/^(done|PERMISSION_DENIED|EMFILE: .*)$/);
    expect(report.changed.filter((path) => /\.tmp$|[^/]\.lock$|\.q$|\.owner$|\.new-/.test(path))).toEqual([]);
    // A change already done is now a conflict, not a failure.
    for (const result of Object.values(report.over ?? {})) expect(result).toMatch(/^(done|[A-Z]+_[A-Z_]+)$/);
    expectDoneOnce(report);
  },
);

test.each([
  ["0", withUmask0],
  ["0777", withUmask777],
])("umask %s › changes no mode: files stay 0600, directories 0700", async (_what, start) => {
  const ref = await someTeam();
  const { root } = ref.home;
  const { during } = await reportOf(start(root, "umask"));
  expect(Object.values(during)).toEqual(Object.keys(during).map(() => "done"));
  const modes = readdirSync(root, { recursive: true, encoding: "utf8" }).map((path) => {
    const stat = lstatSync(join(root, path));
    return `${stat.isDirectory() ? "directory" : "file"} ${(stat.mode & 0o777).toString(8)}`;
  });
  expect(new Set(modes)).toEqual(new Set(["directory 700", "file 600"]));
});

test("lock directories › another process that removes them or changes their times costs no message and no order (S26)", async () => {
  const ref = await testTeam(["a"]);
  const random = seeded(1);
  const senders = ["b", "c", "d", "e"];
  const running = senders.map((from) => sendMany(ref.home.root, ref.team, from, "a", "100"));
  const sent = running.map(countLines);
  let isOver = false;
  const meddling = (async () => {
    let atRemoval = sent.map(() => 0);
    for (let i = 0; !isOver; i += 1) {
      await new Promise((resolve) => setTimeout(resolve, random() * 3));
      // A sender fails after it has lost its lock six times: each sender finishes a message between two removals.
      const hasEachSent = sent.every(({ count }, k) => count > (atRemoval[k] ?? 0));
      if (i % 3 === 0 && !hasEachSent) continue;
      if (meddle(`${ref.paths.inbox("a")}.lock`, i % 3) && i % 3 === 0)
        atRemoval = sent.map(({ count }) => Math.min(count, Number.MAX_VALUE));
    }
  })();
  for (const end of await Promise.all(running.map((sender) => sender.ended())))
    expect(end).toMatchObject({ code: 0, stderr: "" });
  isOver = true;
  await meddling;
  const texts = (await unreadMessages(ref, "a")).map(({ message }) => message.text);
  for (const from of senders) {
    const sent = Array.from({ length: 100 }, (_, i) => `${from} ${i}`);
    expect(texts.filter((text) => text.startsWith(from))).toEqual(sent);
  }
  expect(readdirSync(ref.paths.inboxes)).toEqual(["a.json"]);
});

/** Counts the lines of a process; after its end, the count is infinite. */
function countLines(running: Script): { readonly count: number } {
  const lines = { count: 0 };
  void (async () => {
    for (;;) {
      await running.line();
      lines.count += 1;
    }
  })().catch(() => {
    lines.count = Number.POSITIVE_INFINITY;
  });
  return lines;
}

/** Removes the lock, or makes it seem an hour old, or an hour ahead. @returns false if there was none */
function meddle(lock: string, how: number): boolean {
  const when = new Date(Date.now() + (how === 1 ? -1 : 1) * 3_600_000);
  try {
    if (how === 0) rmdirSync(lock);
    else utimesSync(lock, when, when);
    return true;
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
    return false;
  }
}

test("clock › keeps the order of messages when it is set back", async () => {
  const ref = await testTeam(["a"]);
  for (const [text, now] of [
    ["one", 3_000],
    ["two", 1_000],
    ["three", 2_000],
  ] as const) {
    await sendMessage(ref, { from: "b", to: "a", text }, { now: () => now });
  }
  expect((await unreadMessages(ref, "a")).map(({ message }) => message.text)).toEqual([
    "one",
    "two",
    "three",
  ]);
});
