import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { alsoRing, makeFifos, openFifoBell, ring } from "../../../src/wakeup/fifo-bell.ts";
import { watchLifeline } from "../../../src/wakeup/lifeline.ts";
import { openTreeBell } from "../../../src/wakeup/tree-bell.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

test("makeFifos › creates private FIFOs under any umask, and keeps existing ones", async () => {
  const directory = temporaryDirectory();
  const paths = ["a", "b with space", "-c"].map((name) => join(directory, name));
  const before = process.umask(0);
  onTestFinished(() => void process.umask(before));
  await makeFifos(paths.slice(0, 1));
  const inode = statSync(paths[0] ?? "").ino;
  await makeFifos(paths);
  for (const path of paths) {
    expect(statSync(path).isFIFO()).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  }
  expect(statSync(paths[0] ?? "").ino).toBe(inode);
});

test("makeFifos and openFifoBell › refuse a path that is not a FIFO, and leave it alone", async () => {
  const file = join(temporaryDirectory(), "f");
  writeFileSync(file, "text");
  await expect(makeFifos([file])).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  expect(() => openFifoBell(file)).toThrow(expect.objectContaining({ code: "PERMISSION_DENIED" }));
  expect(readFileSync(file, "utf8")).toBe("text");
});

test('ring › returns "unheard" for a FIFO without a reader, a link, a file, a directory and an invalid path', async () => {
  const directory = temporaryDirectory();
  const [fifo, file, link] = ["fifo", "file", "link"].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  await makeFifos([fifo]);
  writeFileSync(file, "text");
  const bell = openFifoBell(fifo);
  symlinkSync(fifo, link);
  expect(ring(link)).toBe("unheard");
  expect(ring(fifo)).toBe("rung");
  bell.close();
  const odd = ["", "\0", join(directory, "n".repeat(300))];
  for (const path of [join(directory, "none"), file, directory, ...odd]) expect(ring(path)).toBe("unheard");
  expect(readFileSync(file, "utf8")).toBe("text");
});

test('ring › returns "unheard" after the bell\'s process was killed', async () => {
  const fifo = join(temporaryDirectory(), "fifo");
  await makeFifos([fifo]);
  const holder = await holding(fifo);
  expect(ring(fifo)).toBe("rung");
  holder.kill("SIGKILL");
  await once(holder, "close");
  expect(ring(fifo)).toBe("unheard");
});

test("ring › never blocks on a full FIFO", async () => {
  const fifo = join(temporaryDirectory(), "fifo");
  await makeFifos([fifo]);
  const fd = openSync(fifo, "r+");
  onTestFinished(() => closeSync(fd));
  for (let i = 0; i < 70_000; i += 1) {
    if (ring(fifo) !== "rung") throw new Error(`Ring ${i} was unheard.`);
  }
});

test("extra bell › rings with the FIFO, and alone if the FIFO is missing, until it is removed", async () => {
  const path = join(temporaryDirectory(), "bell");
  let rings = 0;
  const leave = alsoRing(path, () => {
    rings += 1;
  });
  expect(ring(path)).toBe("rung");
  await makeFifos([path]);
  const bell = openFifoBell(path);
  try {
    expect(ring(path)).toBe("rung");
    expect(await bell.wait()).toBe("rung");
    expect(rings).toBe(2);
    leave();
    ring(path);
    expect(rings).toBe(2);
  } finally {
    bell.close();
  }
});

test('ring › returns "unheard" if neither a FIFO nor an extra bell exists', () => {
  const path = join(temporaryDirectory(), "bell");
  alsoRing(path, () => undefined)();
  expect(ring(path)).toBe("unheard");
});

test.runIf(process.platform === "linux")(
  "lifeline › ends when its holder is killed, not earlier",
  async () => {
    const directory = temporaryDirectory();
    const ended: string[] = [];
    const held = async (name: string) => {
      const fifo = join(directory, name);
      await makeFifos([fifo]);
      const lifeline = watchLifeline(fifo);
      onTestFinished(() => lifeline.close());
      const over = lifeline.ended.then(() => ended.push(name));
      const holder = await holding(fifo);
      return { holder, over };
    };
    const [first, second] = [await held("first"), await held("second")];
    second.holder.kill("SIGKILL");
    await second.over;
    expect(ended).toEqual(["second"]);
    first.holder.kill("SIGKILL");
    await first.over;
  },
);

test("tree bell › notices directories that appear later, and ignores locks and temporary files", async () => {
  const { directory, rungBy } = watchedTree();
  const run = join(directory, "run");
  mkdirSync(run);
  await rungBy(run);
  mkdirSync(join(run, "status.json.lock"));
  symlinkSync("owner", join(run, "status.json.q"));
  writeFileSync(join(run, ".status.json.1.2.tmp"), "");
  writeFileSync(join(run, "status.json"), "{}");
  const reported = await rungBy(join(run, "status.json"));
  expect(new Set(reported.filter((path) => path !== run))).toEqual(new Set([join(run, "status.json")]));
  rmSync(join(run, "status.json"));
  await rungBy(join(run, "status.json"));
});

test("tree bell › notices a replaced directory and the files in it", async () => {
  const { directory, rungBy } = watchedTree(join("run", "ada"));
  rmSync(join(directory, "run"), { recursive: true });
  mkdirSync(join(directory, "run", "ada"), { recursive: true });
  writeFileSync(join(directory, "last"), "");
  await rungBy(join(directory, "last"));
  writeFileSync(join(directory, "run", "ada", "status.json"), "{}");
  await rungBy(join(directory, "run", "ada", "status.json"));
});

/** Starts a process that holds a FIFO open until it is killed. */
async function holding(fifo: string): Promise<ChildProcess> {
  const holder = spawn("sh", ["-c", 'exec 9<>"$1"; echo here; exec sleep 600', "sh", fifo], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void holder.kill("SIGKILL"));
  await once(holder.stdout, "data");
  return holder;
}

/** Opens a bell for a new directory that contains these directories. */
function watchedTree(...below: readonly string[]) {
  const directory = temporaryDirectory();
  for (const name of below) mkdirSync(join(directory, name), { recursive: true });
  const changed: string[] = [];
  const bell = openTreeBell([directory], (path) => changed.push(path));
  onTestFinished(() => bell.close());
  /** Waits for a ring after a change of a path. @returns the paths that were reported since the last call */
  const rungBy = async (path: string): Promise<readonly string[]> => {
    do expect(await bell.wait()).toBe("rung");
    while (!changed.includes(path));
    return changed.splice(0);
  };
  return { directory, rungBy };
}
