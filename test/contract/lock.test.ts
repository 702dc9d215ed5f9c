import { lstatSync, mkdirSync, rmdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, lock, lockSync, unlockSync } from "proper-lockfile";
import { afterEach, expect, test, vi } from "vitest";
import { withLock } from "../../src/store/lock.ts";
import { eventually } from "../support/eventually.ts";
import { script } from "../support/run-ts.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const holdLock = script("hold-lock");
const SHORT = { waitMs: 60 };
const THEIRS = { realpath: false };
const AN_HOUR_MS = 3_600_000;

afterEach(() => {
  vi.useRealTimers();
});

/** Owner records are links that point nowhere. */
const isThere = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** Makes a lock look as if it had last been touched then, by this machine's clock. */
function touched(path: string, ago: number): void {
  const at = new Date(Date.now() - ago);
  utimesSync(`${path}.lock`, at, at);
}

test("the package finds our lock held, and free afterwards", async () => {
  const path = join(temporaryDirectory(), "f");
  await withLock(path, async () => {
    expect(await check(path, THEIRS)).toBe(true);
    expect(() => lockSync(path, THEIRS)).toThrow(expect.objectContaining({ code: "ELOCKED" }));
  });
  expect(await check(path, THEIRS)).toBe(false);
  lockSync(path, THEIRS);
  unlockSync(path, THEIRS);
});

test("we find the package's lock held, and free afterwards", async () => {
  const path = join(temporaryDirectory(), "f");
  const release = await lock(path, THEIRS);
  await expect(withLock(path, () => "never", SHORT)).rejects.toMatchObject({ code: "LOCK_TIMEOUT" });
  await release();
  expect(await withLock(path, () => "now", SHORT)).toBe("now");
});

test("the package's lock is ours once it is stale, and respected while its time lies in the future", async () => {
  const path = join(temporaryDirectory(), "f");
  mkdirSync(`${path}.lock`);
  touched(path, -AN_HOUR_MS);
  await expect(withLock(path, () => "never", SHORT)).rejects.toMatchObject({ code: "LOCK_TIMEOUT" });
  touched(path, 10_500);
  expect(await withLock(path, () => "mine", SHORT)).toBe("mine");
});

test("withLock › touches its directory every 5 s while its work waits", async () => {
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

test("a living holder of ours keeps its lock from ours, however old the clock makes it", async () => {
  const path = join(temporaryDirectory(), "f");
  const holder = holdLock(path);
  expect(await holder.line()).toBe("held 1");
  touched(path, AN_HOUR_MS);
  await expect(withLock(path, () => "never", SHORT)).rejects.toThrow(String(holder.child.pid));
  rmSync(`${path}.q`);
  await expect(withLock(path, () => "never", SHORT)).rejects.toThrow(String(holder.child.pid));
  holder.say("go on");
  expect(await holder.line()).toBe("held 2");
});

test("a stopped holder that the package robbed does its change again behind the robber", async () => {
  const path = join(temporaryDirectory(), "f");
  const holder = holdLock(path);
  expect(await holder.line()).toBe("held 1");
  holder.child.kill("SIGSTOP");
  touched(path, 10_500);
  const release = await lock(path, THEIRS);
  holder.child.kill("SIGCONT");
  holder.say("go on");
  await eventually("its lock to be given up", () => !isThere(`${path}.lock.owner`));
  expect(await check(path, THEIRS)).toBe(true);
  await release();
  expect(await holder.line()).toBe("held 2");
  holder.say("go on");
  expect(await holder.line()).toBe("done 2");
});

test("a holder whose lock directory somebody deleted does its change again", async () => {
  const path = join(temporaryDirectory(), "f");
  const holder = holdLock(path);
  expect(await holder.line()).toBe("held 1");
  rmdirSync(`${path}.lock`);
  holder.say("go on");
  expect(await holder.line()).toBe("held 2");
  holder.say("go on");
  expect(await holder.line()).toBe("done 2");
});

test("one of ours that had to wait for others of ours leaves the lock free to foreign writers before the next", async () => {
  const path = join(temporaryDirectory(), "f");
  const holder = holdLock(path);
  expect(await holder.line()).toBe("held 1");
  const next = withLock(path, async () => {
    await new Promise((resolve) => setTimeout(resolve, 40));
    writeFileSync(path, "mine");
  });
  holder.say("go on");
  await eventually("the queue to be held and the lock not", () => {
    return isThere(path) && !isThere(`${path}.lock`) && isThere(`${path}.q`);
  });
  lockSync(path, THEIRS);
  unlockSync(path, THEIRS);
  await next;
  expect(isThere(`${path}.q`)).toBe(false);
});
