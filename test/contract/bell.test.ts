import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createConnection, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { anyBell, type Bell, ManualBell } from "../../src/wakeup/bell.ts";
import { openDurableBell } from "../../src/wakeup/durable-bell.ts";
import { makeFifos, openFifoBell, ring } from "../../src/wakeup/fifo-bell.ts";
import { openFileBell } from "../../src/wakeup/file-bell.ts";
import { socketBell } from "../../src/wakeup/socket-bell.ts";
import { backoffBell } from "../../src/wakeup/timer-bell.ts";
import { openTreeBell } from "../../src/wakeup/tree-bell.ts";
import { temporaryDirectory } from "../support/files/temporary-directory.ts";

interface Subject {
  readonly bell: Bell;
  ring(): void;
}

/** Each kind of bell, and how it is rung from outside. */
const BELLS: Record<string, () => Promise<Subject>> = {
  "a FIFO": fifo,
  "a FIFO rung by a shell": async () => {
    const { bell, path } = await fifo();
    return { bell, ring: () => execFileSync("sh", ["-c", 'printf x > "$1"', "sh", path]) };
  },
  "a FIFO that its owner recreates": async () => {
    const directory = temporaryDirectory();
    const [path, lifeline] = [join(directory, "bell"), join(directory, "life")];
    const make = () => makeFifos([path, lifeline]);
    const problem = (error: unknown) => {
      throw error;
    };
    return {
      bell: await openDurableBell({ bell: path, lifeline, make, problem }),
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
    return { bell: openFileBell(file), ring: () => replace(file) };
  },
  "a watched tree": async () => {
    const directory = temporaryDirectory();
    return { bell: openTreeBell([directory]), ring: () => replace(join(directory, "status.json")) };
  },
  "several bells at once": async () => {
    const [first, second] = [await fifo(), await fifo()];
    return { bell: anyBell([first.bell, second.bell]), ring: second.ring };
  },
  "the clock": async () => {
    // The timer rings, so the test does not.
    const bell = backoffBell(20, 40);
    return { bell, ring: () => undefined };
  },
  "a bell within this process": async () => {
    const rings = new ManualBell(() => undefined);
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

  test("a ring before the wait ends it too", async () => {
    const { bell, ring: pull } = await subject();
    pull();
    expect(await bell.wait()).toBe("rung");
  });

  test("many rings count as one, and the bell can be waited for again", async () => {
    const { bell, ring: pull } = await subject();
    for (let i = 0; i < 20; i += 1) pull();
    expect(await bell.wait()).toBe("rung");
    const again = bell.wait();
    pull();
    expect(await again).toBe("rung");
  });

  test("close ends present and later waits, and is idempotent", async () => {
    const { bell } = await subject();
    const woken = bell.wait();
    bell.close();
    bell.close();
    expect(await woken).toBe("aborted");
    expect(await bell.wait()).toBe("aborted");
  });

  test("a wait can be aborted", async () => {
    const { bell, ring: pull } = await subject();
    const giveUp = new AbortController();
    const woken = bell.wait({ signal: giveUp.signal });
    giveUp.abort();
    expect(await woken).toBe("aborted");
    expect(await bell.wait({ signal: giveUp.signal })).toBe("aborted");
    pull();
    expect(await bell.wait()).toBe("rung");
  });

  // The clock rings without a caller.
  if (name !== "the clock") {
    test("a wait ends after its timeout", async () => {
      const { bell } = await subject();
      expect(await bell.wait({ timeoutMs: 15 })).toBe("timeout");
    });
  }
});

test("anyBell keeps a ring that arrives while another bell ends the wait", async () => {
  const [first, second] = [new ManualBell(() => undefined), new ManualBell(() => undefined)];
  const both = anyBell([first, second]);
  const woken = both.wait();
  first.ring();
  expect(await woken).toBe("rung");
  second.ring();
  expect(await both.wait()).toBe("rung");
});

test("socketBell neither blocks nor queues rings if the other end never reads", async () => {
  const [here, there] = await socketPair();
  there.pause();
  onTestFinished(() => void there.destroy());
  const bell = socketBell(here);
  onTestFinished(() => bell.close());
  for (let i = 0; i < 70_000; i += 1) bell.ring();
  expect(here.writableLength).toBeLessThanOrEqual(1);
});

test.runIf(process.platform === "linux")("close stops watching for good", async () => {
  const before = watchCount();
  const directory = temporaryDirectory();
  for (const open of [() => openFileBell(join(directory, "f")), () => openTreeBell([directory])]) {
    const bell = open();
    expect(watchCount()).toBe(before + 1);
    bell.close();
    expect(await bell.wait()).toBe("aborted");
    expect(watchCount()).toBe(before);
  }
});

/** The number of directories that this process watches, according to the system. */
function watchCount(): number {
  return readdirSync("/proc/self/fdinfo").reduce((sum, fd) => {
    try {
      return sum + (readFileSync(`/proc/self/fdinfo/${fd}`, "utf8").match(/^inotify /gm)?.length ?? 0);
    } catch {
      // The descriptor of this read is closed by now.
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

/** Replaces the file with a new one of the same name, as every writer of the project does. */
function replace(file: string): void {
  writeFileSync(`${file}.new`, "[]");
  renameSync(`${file}.new`, file);
}
