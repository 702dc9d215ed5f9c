import { lstatSync, mkdirSync, rmdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { check, lock, lockSync, unlockSync } from "proper-lockfile";
import { afterEach, expect, test, vi } from "vitest";
import { withLock } from "../../src/store/lock.ts";
import { temporaryDirectory } from "../support/files/temporary-directory.ts";
import { script } from "../support/processes/script-process.ts";
import { eventually } from "../support/timing/eventually.ts";

const holdLock = script("store/hold-lock");
const SHORT = { waitMs: 60 };
const THEIRS = { realpath: false };
const AN_HOUR_MS = 3_600_000;

afterEach(() => {
  vi.useRealTimers();
});

/** Returns whether the path exists; owner records are links without a target. */
const isThere = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** Sets a lock's modification time to this many milliseconds ago, by the clock of this machine. */
function setAge(path: string, ageMs: number): void {
  const at = new Date(Date.now() - ageMs);
  utimesSync(`${path}.lock`, at, at);
}

test("proper-lockfile sees our lock as held, and as free after its release", async () => {
  const path = join(temporaryDirectory(), "f");
  await withLock(path, async () => {
    expect(await check(path, THEIRS)).toBe(true);
    expect(() => lockSync(path, THEIRS)).toThrow(expect.objectContaining({ code: "ELOCKED" }));
  });
  expect(await check(path, THEIRS)).toBe(false);
  lockSync(path, THEIRS);
  unlockSync(path, THEIRS);
});

test("withLock waits for a lock of proper-lockfile, and takes it after its release", async () => {
  const path = join(temporaryDirectory(), "f");
  const release = await lock(path, THEIRS);
  await expect(withLock(path, () => "never", SHORT)).rejects.toMatchObject({ code: "LOCK_TIMEOUT" });
  await release();
  expect(await withLock(path, () => "now", SHORT)).toBe("now");
});

test("withLock takes a stale lock of proper-lockfile, but no lock with a time in the future", async () => {
  const path = join(temporaryDirectory(), "f");
  mkdirSync(`${path}.lock`);
  setAge(path, -AN_HOUR_MS);
  await expect(withLock(path, () => "never", SHORT)).rejects.toMatchObject({ code: "LOCK_TIMEOUT" });
  setAge(path, 10_500);
  expect(await withLock(path, () => "mine", SHORT)).toBe("mine");
});

test("a waiting holder refreshes its lock every 5 s", async () => {
  const path = join(temporaryDirectory(), "f");
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  await withLock(path, async () => {
    const started = Date.now();
    for (const touches of [1, 2, 3]) {
      await vi.advanceTimersByTimeAsync(5_000);
      expect(statSync(`${path}.lock`).mtimeMs).toBeCloseTo(started + touches * 5_000, -1);
    }
  });
  expect(vi.getTimerCount()).toBe(0);
});

test("withLock never takes the lock of a live teams process, however old it looks", async () => {
  const path = join(temporaryDirectory(), "f");
  const holder = holdLock(path);
  expect(await holder.line()).toBe("held 1");
  setAge(path, AN_HOUR_MS);
  await expect(withLock(path, () => "never", SHORT)).rejects.toThrow(String(holder.child.pid));
  rmSync(`${path}.q`);
  await expect(withLock(path, () => "never", SHORT)).rejects.toThrow(String(holder.child.pid));
  holder.say("go on");
  expect(await holder.line()).toBe("held 2");
});

test("a stopped holder whose lock proper-lockfile took repeats its update after the other release", async () => {
  const path = join(temporaryDirectory(), "f");
  const holder = holdLock(path);
  expect(await holder.line()).toBe("held 1");
  holder.child.kill("SIGSTOP");
  setAge(path, 10_500);
  const release = await lock(path, THEIRS);
  holder.child.kill("SIGCONT");
  holder.say("go on");
  await eventually("its lock to be released", () => !isThere(`${path}.lock.owner`));
  expect(await check(path, THEIRS)).toBe(true);
  await release();
  expect(await holder.line()).toBe("held 2");
  holder.say("go on");
  expect(await holder.line()).toBe("done 2");
});

test("a holder whose lock directory was deleted repeats its update", async () => {
  const path = join(temporaryDirectory(), "f");
  const holder = holdLock(path);
  expect(await holder.line()).toBe("held 1");
  rmdirSync(`${path}.lock`);
  holder.say("go on");
  expect(await holder.line()).toBe("held 2");
  holder.say("go on");
  expect(await holder.line()).toBe("done 2");
});

test("a queued teams process leaves the lock free for foreign writers before the next one takes it", async () => {
  const path = join(temporaryDirectory(), "f");
  const holder = holdLock(path);
  expect(await holder.line()).toBe("held 1");
  let begun = 0;
  let ended = 0;
  let held: readonly boolean[] = [];
  const next = withLock(path, async () => {
    begun = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 40));
    ended = performance.now();
    // Runs after the release of the lock, and before a timer can end the pause.
    setImmediate(() => {
      held = [isThere(`${path}.q`), isThere(`${path}.lock`)];
      lockSync(path, THEIRS);
      unlockSync(path, THEIRS);
    });
  });
  // After its first attempt, which finds the queue held.
  await new Promise(setImmediate);
  const freed = performance.now();
  holder.say("go on");
  await next;
  expect(held).toEqual([true, false]);
  // The lock is free for 100 ms in all, before the hold and in the pause: the maximum, since four times the hold is longer. Timers may
  // be early.
  expect(begun - freed + (performance.now() - ended)).toBeGreaterThan(95);
  expect(isThere(`${path}.q`)).toBe(false);
});
