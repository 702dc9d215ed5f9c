import { chmodSync, closeSync, existsSync, mkdirSync, openSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Bell } from "../../../src/wakeup/bell.ts";
import { openDurableBell } from "../../../src/wakeup/durable-bell.ts";
import { makeFifos, ring } from "../../../src/wakeup/fifo-bell.ts";
import { watchLifeline } from "../../../src/wakeup/lifeline.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

test("durable bell › recreates a vanished bell and lifeline at the next wait, which rings at once (S78)", async () => {
  const { bell, paths } = await durableBell();
  rmSync(dirname(paths.bell), { recursive: true });
  expect(ring(paths.bell)).toBe("unheard");
  expect(await bell.wait()).toBe("rung");
  const next = bell.wait();
  expect(ring(paths.bell)).toBe("rung");
  expect(await next).toBe("rung");
  expect(ring(paths.lifeline)).toBe("rung");
});

test("durable bell › adopts FIFOs that another process recreated, and keeps existing ones", async () => {
  const { bell, paths } = await durableBell();
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

test("durable bell › reports a failed recreation once, keeps waiting, and retries", async () => {
  const problems: unknown[] = [];
  const { bell, paths } = await durableBell((error) => problems.push(error));
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

test("durable bell › recreates once for several waits, and stays closed if closed meanwhile", async () => {
  const { bell, paths } = await durableBell();
  let made = 0;
  const make = paths.make;
  paths.make = () => {
    made += 1;
    return make();
  };
  rmSync(dirname(paths.bell), { recursive: true });
  expect(await Promise.all([bell.wait(), bell.wait()])).toEqual(["rung", "rung"]);
  expect(made).toBe(1);
  // Keeps the inode in use, so that the next FIFO cannot get it.
  const fd = openSync(paths.bell, "r+");
  onTestFinished(() => closeSync(fd));
  rmSync(dirname(paths.bell), { recursive: true });
  const waiting = bell.wait();
  bell.close();
  expect(await waiting).toBe("aborted");
  expect(ring(paths.bell)).toBe("unheard");
});

test.runIf(process.platform === "linux")(
  "durable bell › ends its lifeline for watchers when it closes",
  async () => {
    const { bell, paths } = await durableBell();
    const lifeline = watchLifeline(paths.lifeline);
    onTestFinished(() => lifeline.close());
    expect(lifeline.isInPlace()).toBe(true);
    bell.close();
    await lifeline.ended;
  },
);

test("durable bell › refuses to open if a directory is in the way", async () => {
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

async function durableBell(
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
