import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createConnection, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Bell } from "../../src/wakeup/bell.ts";
import { openLastingBell } from "../../src/wakeup/durable-bell.ts";
import { makeFifos, openFifoBell, ring } from "../../src/wakeup/fifo-bell.ts";
import { openWatchBell } from "../../src/wakeup/file-bell.ts";
import { Rings } from "../../src/wakeup/manual-bell.ts";
import { anyBell } from "../../src/wakeup/merged-bell.ts";
import { socketBell } from "../../src/wakeup/socket-bell.ts";
import { backoffBell } from "../../src/wakeup/timer-bell.ts";
import { openTreeBell } from "../../src/wakeup/tree-bell.ts";
import { temporaryDirectory } from "../support/files/temporary-directory.ts";

interface Subject {
  readonly bell: Bell;
  ring(): void;
}

/** Each way to be woken, and what rings it from outside. */
const BELLS: Record<string, () => Promise<Subject>> = {
  "a FIFO": fifo,
  "a FIFO rung by a shell": async () => {
    const { bell, path } = await fifo();
    return { bell, ring: () => execFileSync("sh", ["-c", 'printf x > "$1"', "sh", path]) };
  },
  "a FIFO that its owner makes anew": async () => {
    const directory = temporaryDirectory();
    const [path, lifeline] = [join(directory, "bell"), join(directory, "life")];
    const make = () => makeFifos([path, lifeline]);
    const problem = (error: unknown) => {
      throw error;
    };
    return {
      bell: await openLastingBell({ bell: path, lifeline, make, problem }),
      ring: () => void ring(path),
    };
  },
  "a socket pair": async () => {
    const [here, there] = await socketPair();
    const other = socketBell(there);
    onTestFinished(() => other.close());
    return { bell: socketBell(here), ring: () => other.ring() };
  },
  "a watched file": async () => {
    const file = join(temporaryDirectory(), "inbox.json");
    return { bell: openWatchBell(file), ring: () => replace(file) };
  },
  "a watched tree": async () => {
    const directory = temporaryDirectory();
    return { bell: openTreeBell([directory]), ring: () => replace(join(directory, "status.json")) };
  },
  "several at once": async () => {
    const [first, second] = [await fifo(), await fifo()];
    return { bell: anyBell([first.bell, second.bell]), ring: second.ring };
  },
  "the clock": async () => {
    // It rings by itself: nobody has to.
    const bell = backoffBell(20, 40);
    return { bell, ring: () => undefined };
  },
  "rings of this process": async () => {
    const rings = new Rings(() => undefined);
    return { bell: rings, ring: () => rings.ring() };
  },
};

describe.each(Object.entries(BELLS))("%s", (name, open) => {
  const subject = async (): Promise<Subject> => {
    const opened = await open();
    onTestFinished(() => opened.bell.close());
    return opened;
  };

  test("a ring ends the wait", async () => {
    const { bell, ring: pull } = await subject();
    const woken = bell.wait();
    pull();
    expect(await woken).toBe("rung");
  });

  test("a ring that came before the wait ends it too", async () => {
    const { bell, ring: pull } = await subject();
    pull();
    expect(await bell.wait()).toBe("rung");
  });

  test("many rings are one, and the bell can be waited for again", async () => {
    const { bell, ring: pull } = await subject();
    for (let i = 0; i < 20; i += 1) pull();
    expect(await bell.wait()).toBe("rung");
    const again = bell.wait();
    pull();
    expect(await again).toBe("rung");
  });

  test("closing ends a wait, and later ones, and may be done twice", async () => {
    const { bell } = await subject();
    const woken = bell.wait();
    bell.close();
    bell.close();
    expect(await woken).toBe("aborted");
    expect(await bell.wait()).toBe("aborted");
  });

  test("a wait can be given up", async () => {
    const { bell, ring: pull } = await subject();
    const giveUp = new AbortController();
    const woken = bell.wait({ signal: giveUp.signal });
    giveUp.abort();
    expect(await woken).toBe("aborted");
    expect(await bell.wait({ signal: giveUp.signal })).toBe("aborted");
    pull();
    expect(await bell.wait()).toBe("rung");
  });

  test.skipIf(name === "the clock")("a wait ends after its time", async () => {
    const { bell } = await subject();
    expect(await bell.wait({ timeoutMs: 15 })).toBe("timeout");
  });
});

test("of several bells none loses a ring that came while another ended the wait", async () => {
  const [first, second] = [new Rings(() => undefined), new Rings(() => undefined)];
  const both = anyBell([first, second]);
  const woken = both.wait();
  first.ring();
  expect(await woken).toBe("rung");
  second.ring();
  expect(await both.wait({ timeoutMs: 1_000 })).toBe("rung");
});

test("a socket pair whose other end never reads holds up nobody, and no backlog grows", async () => {
  const [here, there] = await socketPair();
  there.pause();
  onTestFinished(() => void there.destroy());
  const bell = socketBell(here);
  onTestFinished(() => bell.close());
  for (let i = 0; i < 70_000; i += 1) bell.ring();
  expect(here.writableLength).toBeLessThanOrEqual(1);
});

test.runIf(process.platform === "linux")("what is watched is let go at the close, for good", async () => {
  const before = watchCount();
  const directory = temporaryDirectory();
  for (const open of [() => openWatchBell(join(directory, "f")), () => openTreeBell([directory])]) {
    const bell = open();
    expect(watchCount()).toBe(before + 1);
    bell.close();
    expect(await bell.wait()).toBe("aborted");
    expect(watchCount()).toBe(before);
  }
});

/** How many directories this process watches, as the system counts them. */
function watchCount(): number {
  return readdirSync("/proc/self/fdinfo").reduce((sum, fd) => {
    try {
      return sum + (readFileSync(`/proc/self/fdinfo/${fd}`, "utf8").match(/^inotify /gm)?.length ?? 0);
    } catch {
      // The descriptor of this very look is gone by now.
      return sum;
    }
  }, 0);
}

async function fifo(): Promise<Subject & { readonly path: string }> {
  const path = join(temporaryDirectory(), "bell");
  await makeFifos([path]);
  return { bell: openFifoBell(path), ring: () => void ring(path), path };
}

async function socketPair(): Promise<[Socket, Socket]> {
  const path = join(temporaryDirectory(), "s");
  const server = createServer();
  const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const there = createConnection(path);
  const here = await accepted;
  server.close();
  return [here, there];
}

/** As every writer of ours does it: a new file under the old name. */
function replace(file: string): void {
  writeFileSync(`${file}.new`, "[]");
  renameSync(`${file}.new`, file);
}
