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
import { withLock } from "../../../src/store/lock.ts";
import { ownerRecord } from "../../../src/store/owner-lock.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { script } from "../../support/processes/script-process.ts";

const holdLock = script("store/hold-lock");
const countUp = script("store/increment-file");
const SHORT = { waitMs: 60 };

/** The queue lock goes to somebody else; a retry is made at once. */
function another(path: string): number {
  rmSync(`${path}.q`, { force: true });
  symlinkSync(ownerRecord(), `${path}.q`);
  return 0;
}

test("a lock is free again after the work, and leaves nothing behind", async () => {
  const directory = temporaryDirectory();
  expect(await withLock(join(directory, "f"), () => readdirSync(directory).sort())).toEqual([
    "f.lock",
    "f.lock.owner",
    "f.q",
  ]);
  expect(readdirSync(directory)).toEqual([]);
});

test("the lock directory stays empty, since foreign peers remove it with rmdir", async () => {
  const path = join(temporaryDirectory(), "f");
  await withLock(path, () => expect(readdirSync(`${path}.lock`)).toEqual([]));
});

test("work that throws gives the lock back", async () => {
  const path = join(temporaryDirectory(), "f");
  const broken = withLock(path, () => {
    throw new Error("broken");
  });
  await expect(broken).rejects.toThrow("broken");
  expect(await withLock(path, () => "next", SHORT)).toBe("next");
});

test("a lock directory that somebody put something into is told, and keeps nobody waiting once it is mended", async () => {
  const path = join(temporaryDirectory(), "f");
  const spoilt = withLock(path, () => {
    chmodSync(`${path}.lock`, 0o700);
    mkdirSync(join(`${path}.lock`, "x"));
  });
  await expect(spoilt).rejects.toMatchObject({
    code: "PERMISSION_DENIED",
    message: expect.stringContaining("could not be given back"),
  });
  rmSync(`${path}.lock`, { recursive: true });
  expect(await withLock(path, () => "mine", SHORT)).toBe("mine");
});

test("who waits while others of ours follow each other waits on, and gives up where one of them hangs", async () => {
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

test("who always finds others before it gives up at last, and says how long it waited", async () => {
  const path = join(temporaryDirectory(), "f");
  another(path);
  const unlucky = withLock(path, () => "never", { waitMs: 250, random: () => another(path) });
  await expect(unlucky).rejects.toThrow(/was locked for 1 s/);
});

test("calls of one process run one after the other, in their order", async () => {
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

test("a foreign lock is respected until it is given back", async () => {
  const path = join(temporaryDirectory(), "f");
  mkdirSync(`${path}.lock`);
  await expect(withLock(path, () => "never", SHORT)).rejects.toMatchObject({ code: "LOCK_TIMEOUT" });
  rmdirSync(`${path}.lock`);
  expect(await withLock(path, () => "now", SHORT)).toBe("now");
});

test("a foreign lock that shows no sign of life for 10 s is taken (S26)", async () => {
  const path = join(temporaryDirectory(), "f");
  mkdirSync(`${path}.lock`);
  const old = new Date(Date.now() - 10_500);
  utimesSync(`${path}.lock`, old, old);
  expect(await withLock(path, () => "mine", SHORT)).toBe("mine");
});

test("a lock whose holder was killed is taken at once (S26)", async () => {
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

test("a dead holder's record never frees a lock that somebody else has taken since", async () => {
  const path = join(temporaryDirectory(), "f");
  const holder = holdLock(path);
  await holder.line();
  holder.child.kill("SIGKILL");
  await holder.ended();
  rmdirSync(`${path}.lock`);
  mkdirSync(`${path}.lock`);
  await expect(withLock(path, () => "never", SHORT)).rejects.toMatchObject({ code: "LOCK_TIMEOUT" });
});

test("a dead holder's record never frees a foreign lock, though the file system gave it the number and the time of the dead one's", async () => {
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

test("an owner that cannot be judged from here keeps its lock for 10 s (S77)", async () => {
  const path = join(temporaryDirectory(), "f");
  const [pid, , , space, boot] = ownerRecord().split(".");
  symlinkSync([pid, "no-such-start", "other-host", space, boot, "word"].join("."), `${path}.q`);
  await expect(withLock(path, () => "never", SHORT)).rejects.toMatchObject({ code: "LOCK_TIMEOUT" });
});

test("a holder that was robbed notices it before its change and does it again", async () => {
  const path = join(temporaryDirectory(), "f");
  const holder = holdLock(path);
  expect(await holder.line()).toBe("held 1");
  // What a foreign peer does after 10 s without a sign of life.
  rmdirSync(`${path}.lock`);
  mkdirSync(`${path}.lock`);
  holder.say("go on");
  rmdirSync(`${path}.lock`);
  expect(await holder.line()).toBe("held 2");
  holder.say("go on");
  expect(await holder.line()).toBe("done 2");
});

test("what a robbed holder gives back is not the robber's lock", async () => {
  const path = join(temporaryDirectory(), "f");
  await withLock(path, () => {
    rmdirSync(`${path}.lock`);
    mkdirSync(`${path}.lock`);
  });
  expect(existsSync(`${path}.lock`)).toBe(true);
});

test("a directory that is missing is an error and is not made", async () => {
  const directory = join(temporaryDirectory(), "gone");
  await expect(withLock(join(directory, "f"), () => 1)).rejects.toMatchObject({ code: "ENOENT" });
  expect(existsSync(directory)).toBe(false);
});

test("eight processes that count in one file lose no step", async () => {
  const file = join(temporaryDirectory(), "n.json");
  writeFileSync(file, '{"n": 0}');
  const runs = Array.from({ length: 8 }, () => countUp(file, "25").ended());
  expect(await Promise.all(runs)).toEqual(Array(8).fill({ code: 0, signal: null, stderr: "" }));
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ n: 200 });
});
