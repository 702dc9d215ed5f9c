import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { steadyNow } from "../../../src/os/clock.ts";
import { lockDirectoryId } from "../../../src/os/files/lock-directory.ts";
import { inQueue, withLock } from "../../../src/store/lock.ts";
import { ownerRecord } from "../../../src/store/owner-lock.ts";
import { failingRemovals } from "../../support/files/failing-removals.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { script } from "../../support/processes/script-process.ts";

const holdLock = script("store/hold-lock");
const countUp = script("store/increment-file");
const SHORT = { waitMs: 60 };

/** Gives the queue lock to another holder. @returns 0, so that the retry follows at once */
function another(path: string): number {
  rmSync(`${path}.q`, { force: true });
  symlinkSync(ownerRecord(), `${path}.q`);
  return 0;
}

test("withLock frees the lock after the work, and leaves no file", async () => {
  const directory = temporaryDirectory();
  expect(await withLock(join(directory, "f"), () => readdirSync(directory).sort())).toEqual([
    "f.lock",
    "f.lock.owner",
    "f.q",
  ]);
  expect(readdirSync(directory)).toEqual([]);
});

test("withLock keeps the lock directory empty, since foreign peers remove it with rmdir", async () => {
  const path = join(temporaryDirectory(), "f");
  await withLock(path, () => expect(readdirSync(`${path}.lock`)).toEqual([]));
});

test("withLock releases the lock when the work throws", async () => {
  const path = join(temporaryDirectory(), "f");
  const broken = withLock(path, () => {
    throw new Error("broken");
  });
  await expect(broken).rejects.toThrow("broken");
  expect(await withLock(path, () => "next", SHORT)).toBe("next");
});

test("withLock reports a lock directory that is not empty, and works once it is removed", async () => {
  const path = join(temporaryDirectory(), "f");
  const spoilt = withLock(path, () => {
    chmodSync(`${path}.lock`, 0o700);
    mkdirSync(join(`${path}.lock`, "x"));
  });
  await expect(spoilt).rejects.toMatchObject({
    code: "PERMISSION_DENIED",
    message: expect.stringContaining("could not be released"),
  });
  rmSync(`${path}.lock`, { recursive: true });
  expect(await withLock(path, () => "mine", SHORT)).toBe("mine");
});

test("withLock says that the work is done when the lock of the queue cannot be released, and releases it later", async () => {
  const path = join(temporaryDirectory(), "f");
  let fails = true;
  failingRemovals((one) => fails && one === `${path}.q`);
  await expect(withLock(path, () => "done")).rejects.toMatchObject({
    code: "PERMISSION_DENIED",
    message: expect.stringContaining(`${path} was updated, but its lock could not be released`),
    hint: `Remove ${path}.q when no program holds it.`,
  });
  fails = false;
  expect(await withLock(path, () => "mine")).toBe("mine");
});

test("withLock waits longer while holders change, and gives up when one of them hangs", async () => {
  const path = join(temporaryDirectory(), "f");
  const follow = () => another(path);
  follow();
  const until = steadyNow() + 2 * SHORT.waitMs;
  const moving = () => {
    if (steadyNow() < until) return follow();
    rmSync(`${path}.q`);
    return 0;
  };
  expect(await withLock(path, () => "mine", { ...SHORT, random: moving })).toBe("mine");
  follow();
  const stopping = () => (steadyNow() < until + SHORT.waitMs ? follow() : 0);
  await expect(withLock(path, () => "never", { ...SHORT, random: stopping })).rejects.toMatchObject({
    code: "LOCK_TIMEOUT",
  });
});

test("withLock gives up eventually when others are always first, and reports the time", async () => {
  const path = join(temporaryDirectory(), "f");
  another(path);
  const unlucky = withLock(path, () => "never", { waitMs: 250, random: () => another(path) });
  await expect(unlucky).rejects.toThrow(/was locked for \d+ s/);
});

test("inQueue leaves the shared lock free for four times the time that it was held when others wait", async () => {
  const path = join(temporaryDirectory(), "f");
  let heldMs = 0;
  const begun = steadyNow();
  await inQueue(path, async (turn) => {
    await turn.holdShared(() => {
      const since = steadyNow();
      while (steadyNow() - since < 20);
      heldMs = steadyNow() - since;
    });
    turn.noteWaiting();
  });
  // The lock is free for the whole turn except the hold, even before it. A stalled machine makes both longer; the program never
  // leaves the lock free for more than 100 ms on purpose.
  const freeMs = steadyNow() - begun - heldMs;
  expect(freeMs).toBeGreaterThanOrEqual(Math.min(4 * heldMs, 100) - 1);
});

test("withLock runs the calls of one process one after another, in their order", async () => {
  const path = join(temporaryDirectory(), "f");
  const seen: string[] = [];
  const work = (n: number) => async () => {
    seen.push(`${n} in`);
    await new Promise((resolve) => setImmediate(resolve));
    seen.push(`${n} out`);
  };
  const calls = Array.from({ length: 10 }, (_, n) => n);
  await Promise.all(calls.map((n) => withLock(path, work(n))));
  expect(seen).toEqual(calls.flatMap((n) => [`${n} in`, `${n} out`]));
});

test("withLock respects a foreign lock until it is released", async () => {
  const path = join(temporaryDirectory(), "f");
  mkdirSync(`${path}.lock`);
  await expect(withLock(path, () => "never", SHORT)).rejects.toMatchObject({ code: "LOCK_TIMEOUT" });
  rmdirSync(`${path}.lock`);
  expect(await withLock(path, () => "now", SHORT)).toBe("now");
});

test("withLock takes a foreign lock that was not updated for 10 s (S26)", async () => {
  const path = join(temporaryDirectory(), "f");
  mkdirSync(`${path}.lock`);
  const old = new Date(Date.now() - 10_500);
  utimesSync(`${path}.lock`, old, old);
  expect(await withLock(path, () => "mine", SHORT)).toBe("mine");
});

test("withLock takes the lock of a killed process at once (S26)", async () => {
  const path = join(temporaryDirectory(), "f");
  const holder = holdLock(path);
  expect(await holder.line()).toBe("held 1");
  await expect(withLock(path, () => "never", SHORT)).rejects.toThrow(String(holder.child.pid));
  holder.child.kill("SIGKILL");
  await holder.ended();
  expect(existsSync(`${path}.lock`)).toBe(true);
  expect(await withLock(path, () => "mine", SHORT)).toBe("mine");
  expect(existsSync(`${path}.lock`)).toBe(false);
});

test("withLock keeps a lock that another process took after the recorded holder died", async () => {
  const path = join(temporaryDirectory(), "f");
  const holder = holdLock(path);
  await holder.line();
  holder.child.kill("SIGKILL");
  await holder.ended();
  rmdirSync(`${path}.lock`);
  mkdirSync(`${path}.lock`);
  await expect(withLock(path, () => "never", SHORT)).rejects.toMatchObject({ code: "LOCK_TIMEOUT" });
});

test("withLock keeps a foreign lock that has the inode and the time of a dead holder's", async () => {
  const path = join(temporaryDirectory(), "f");
  const holder = holdLock(path);
  await holder.line();
  holder.child.kill("SIGKILL");
  await holder.ended();
  const [pid, start, host, space, boot] = readlinkSync(`${path}.lock.owner`).split(".");
  rmdirSync(`${path}.lock`);
  mkdirSync(`${path}.lock`);
  rmSync(`${path}.lock.owner`);
  const word = lockDirectoryId(path);
  symlinkSync([pid, start, host, space, boot, word].join("."), `${path}.lock.owner`);
  await expect(withLock(path, () => "never", SHORT)).rejects.toMatchObject({ code: "LOCK_TIMEOUT" });
});

test("withLock waits 10 s for an owner that cannot be judged from here (S77)", async () => {
  const path = join(temporaryDirectory(), "f");
  const [pid, , , space] = ownerRecord().split(".");
  symlinkSync([pid, "no-such-start", "other-host", space, "other-boot", "word"].join("."), `${path}.q`);
  await expect(withLock(path, () => "never", SHORT)).rejects.toMatchObject({ code: "LOCK_TIMEOUT" });
});

test("withLock runs the work again when the lock was lost before the change", async () => {
  const path = join(temporaryDirectory(), "f");
  const holder = holdLock(path);
  expect(await holder.line()).toBe("held 1");
  // A foreign peer does this after 10 s without an update.
  rmdirSync(`${path}.lock`);
  mkdirSync(`${path}.lock`);
  holder.say("go on");
  rmdirSync(`${path}.lock`);
  expect(await holder.line()).toBe("held 2");
  holder.say("go on");
  expect(await holder.line()).toBe("done 2");
});

test("withLock leaves the lock of another process alone when its own was lost", async () => {
  const path = join(temporaryDirectory(), "f");
  await withLock(path, () => {
    rmdirSync(`${path}.lock`);
    mkdirSync(`${path}.lock`);
  });
  expect(existsSync(`${path}.lock`)).toBe(true);
});

test("withLock removes the lock directory when its process exits, unless another process has taken the lock", async () => {
  const path = join(temporaryDirectory(), "f");
  for (const isTaken of [false, true]) {
    const holder = holdLock(path);
    expect(await holder.line()).toBe("held 1");
    if (isTaken) {
      rmdirSync(`${path}.lock`);
      mkdirSync(`${path}.lock`);
    }
    // Nothing is left that could resolve its wait, so the process exits.
    holder.child.stdin?.end();
    await holder.ended();
    expect(existsSync(`${path}.lock`)).toBe(isTaken);
  }
});

test("withLock throws when the directory is missing, and does not create it", async () => {
  const directory = join(temporaryDirectory(), "gone");
  await expect(withLock(join(directory, "f"), () => 1)).rejects.toMatchObject({ code: "ENOENT" });
  expect(existsSync(directory)).toBe(false);
});

test("withLock loses no update of eight processes that count in one file", async () => {
  const file = join(temporaryDirectory(), "n.json");
  writeFileSync(file, '{"n": 0}');
  const runs = Array.from({ length: 8 }, () => countUp(file, "25").ended());
  expect(await Promise.all(runs)).toEqual(Array(8).fill({ code: 0, signal: null, stderr: "" }));
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ n: 200 });
});
