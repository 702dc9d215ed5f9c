import { chmodSync, closeSync, existsSync, mkdirSync, openSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Bell } from "../../../src/wakeup/bell.ts";
import { openDurableBell } from "../../../src/wakeup/durable-bell.ts";
import { makeFifos, ring } from "../../../src/wakeup/fifo-bell.ts";
import { watchLifeline } from "../../../src/wakeup/lifeline.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

test("a bell and a lifeline that vanished are back with the next wait, which finds what nobody could ring for (S78)", async () => {
  const { bell, paths } = await lasting();
  rmSync(dirname(paths.bell), { recursive: true });
  expect(ring(paths.bell)).toBe("nobody");
  expect(await bell.wait()).toBe("rung");
  const next = bell.wait();
  expect(ring(paths.bell)).toBe("rung");
  expect(await next).toBe("rung");
  expect(ring(paths.lifeline)).toBe("rung");
});

test("those that another has put in their place are taken, and one that is still there stays", async () => {
  const { bell, paths } = await lasting();
  rmSync(paths.bell);
  await makeFifos([paths.bell]);
  const line = statSync(paths.lifeline).ino;
  expect(await bell.wait()).toBe("rung");
  expect(ring(paths.bell)).toBe("rung");
  expect(statSync(paths.lifeline).ino).toBe(line);
  rmSync(paths.lifeline);
  ring(paths.bell);
  expect(await bell.wait()).toBe("rung");
  expect(ring(paths.lifeline)).toBe("rung");
});

test("that they cannot be made is told once, ends no wait, and is tried again", async () => {
  const problems: unknown[] = [];
  const { bell, paths } = await lasting((error) => problems.push(error));
  const above = dirname(dirname(paths.bell));
  rmSync(dirname(paths.bell), { recursive: true });
  const failing = { make: paths.make };
  paths.make = () => Promise.reject(new Error("no room"));
  for (let i = 0; i < 3; i += 1) expect(await bell.wait({ timeoutMs: 5 })).toBe("timeout");
  expect(problems.map(String)).toEqual(["Error: no room"]);
  expect(existsSync(above)).toBe(true);
  paths.make = failing.make;
  expect(await bell.wait()).toBe("rung");
  expect(ring(paths.bell)).toBe("rung");
});

test("several that wait make them once, and closing in the middle leaves nothing open", async () => {
  const { bell, paths } = await lasting();
  let made = 0;
  const make = paths.make;
  paths.make = () => {
    made += 1;
    return make();
  };
  rmSync(dirname(paths.bell), { recursive: true });
  expect(await Promise.all([bell.wait(), bell.wait()])).toEqual(["rung", "rung"]);
  expect(made).toBe(1);
  // Held, so that its inode is not given to the next one.
  const fd = openSync(paths.bell, "r+");
  onTestFinished(() => closeSync(fd));
  rmSync(dirname(paths.bell), { recursive: true });
  const waiting = bell.wait();
  bell.close();
  expect(await waiting).toBe("aborted");
  expect(ring(paths.bell)).toBe("nobody");
});

test.runIf(process.platform === "linux")("its lifeline ends with it for those who watch", async () => {
  const { bell, paths } = await lasting();
  const lifeline = watchLifeline(paths.lifeline);
  onTestFinished(() => lifeline.close());
  expect(lifeline.isInPlace()).toBe(true);
  bell.close();
  await lifeline.ended;
});

test("a start refuses what is in the way", async () => {
  const directory = temporaryDirectory();
  chmodSync(directory, 0o700);
  const [bell, lifeline] = [join(directory, "bell"), join(directory, "life")];
  mkdirSync(bell);
  const opening = openDurableBell({
    bell,
    lifeline,
    make: () => makeFifos([bell, lifeline]),
    problem: () => undefined,
  });
  await expect(opening).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
});

interface Paths {
  readonly bell: string;
  readonly lifeline: string;
  make(): Promise<void>;
}

async function lasting(
  problem: (error: unknown) => void = (error) => {
    throw error;
  },
): Promise<{ bell: Bell; paths: Paths }> {
  const directory = join(temporaryDirectory(), "run");
  const [bell, lifeline] = [join(directory, "bell"), join(directory, "life")];
  const paths: Paths = {
    bell,
    lifeline,
    make: () => {
      mkdirSync(directory, { recursive: true });
      return makeFifos([bell, lifeline]);
    },
  };
  const opened = await openDurableBell({ bell, lifeline, make: () => paths.make(), problem });
  onTestFinished(() => opened.close());
  return { bell: opened, paths };
}
