import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  type FileToPack,
  packArchive,
  readArchive,
  replaceWithBytes,
  wholeLinesOf,
} from "../../../../src/os/files/tar.ts";
import { packed, readAll, stream, unpacked } from "../../../support/files/archive-files.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

const packedBytes = (files: readonly FileToPack[]): Promise<Buffer> => readAll(packArchive(files, 1_000));

describe("packArchive and related functions", () => {
  test("packs each file, and a growing file up to its original length", async () => {
    const path = join(temporaryDirectory(), "log");
    writeFileSync(path, "one\ntwo\ntor");
    const start = wholeLinesOf(path);
    writeFileSync(path, "one\ntwo\ntorn no more\n");
    const files = [
      { name: "a/log", content: start ?? Buffer.alloc(0) },
      { name: "a/empty", content: Buffer.alloc(0) },
      { name: `a/${"long".repeat(60)}`, content: Buffer.from("检") },
    ];
    expect(await unpacked(await packedBytes(files))).toEqual([
      { name: "a/log", text: "one\ntwo\n" },
      { name: "a/empty", text: "" },
      { name: `a/${"long".repeat(60)}`, text: "检" },
    ]);
  });

  test("measures the whole lines of a file, and returns undefined if it is missing", () => {
    const path = join(temporaryDirectory(), "log");
    expect(wholeLinesOf(path)).toBeUndefined();
    writeFileSync(path, "x".repeat(200_000));
    expect(wholeLinesOf(path)).toEqual({ path, length: 0 });
    writeFileSync(path, `one\n${"x".repeat(200_000)}`);
    expect(wholeLinesOf(path)).toEqual({ path, length: 4 });
  });

  test.each([
    ["disappears", undefined],
    ["becomes shorter", "abc"],
  ])("fails if one of the files %s in the meantime", async (_what, text) => {
    const path = join(temporaryDirectory(), "log");
    if (text !== undefined) writeFileSync(path, text);
    await expect(packedBytes([{ name: "a", content: { path, length: 10 } }])).rejects.toThrow();
  });

  test("replaces a file only with a complete archive, and leaves no temporary file", async () => {
    const directory = temporaryDirectory();
    const path = join(directory, "x.tar.gz");
    writeFileSync(path, "old");
    const broken = [{ name: "a", content: { path: join(directory, "gone"), length: 1 } }];
    await expect(replaceWithBytes(path, packArchive(broken, 1))).rejects.toThrow();
    expect([readdirSync(directory), readFileSync(path, "utf8")]).toEqual([["x.tar.gz"], "old"]);
    const before = process.umask(0);
    await replaceWithBytes(path, packArchive([], 1)).finally(() => process.umask(before));
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });
});

describe("readArchive", () => {
  const read = (bytes: Buffer, take: () => Promise<void> = async () => undefined, max = 1_000_000) =>
    readArchive(stream(bytes), max, take);

  test("reads a file even if the caller skipped the previous one", async () => {
    const bytes = await packed([
      { name: "big", text: "x".repeat(300_000) },
      { name: "small", text: "y" },
    ]);
    const seen: string[] = [];
    await readArchive(stream(bytes), 1_000_000, async ({ name, size, bytes: content }) => {
      if (name === "small") seen.push(`${name} ${size} ${await readAll(content)}`);
    });
    expect(seen).toEqual(["small 1 y"]);
  });

  test("fails if the unpacked size exceeds the limit", async () => {
    const bytes = await packed([{ name: "bomb", text: " ".repeat(900_000) }]);
    expect(bytes.length).toBeLessThan(2_000);
    await expect(read(bytes, undefined, 100_000)).rejects.toMatchObject({
      code: "CORRUPT_FILE",
      message: expect.stringContaining("more than 100000 bytes"),
    });
  });

  test("fails with the error of the callback", async () => {
    const full = Object.assign(new Error("ENOSPC: full"), { code: "ENOSPC", syscall: "write" });
    const bytes = await packed([{ name: "a", text: "x" }, { name: "b" }]);
    await expect(read(bytes, () => Promise.reject(full))).rejects.toBe(full);
  });

  test("rejects an archive truncated at any length", async () => {
    const bytes = await packed([{ name: "a", text: "x".repeat(3_000) }]);
    for (let length = 0; length < bytes.length; length += 7) {
      await expect(read(bytes.subarray(0, length))).rejects.toMatchObject({ code: "CORRUPT_FILE" });
    }
  });
});

test.skipIf(process.getuid?.() === 0)(
  "replaceWithBytes › says that the file is there when its directory cannot be synced",
  async () => {
    const directory = join(temporaryDirectory(), "inbox");
    mkdirSync(directory, { mode: 0o300 });
    const path = join(directory, "x.tar.gz");
    const failed = await replaceWithBytes(path, packArchive([], 1)).catch((error: unknown) => error);
    chmodSync(directory, 0o700);
    expect(failed).toMatchObject({ message: expect.stringContaining(`${path} was written`) });
    expect(readdirSync(directory)).toEqual(["x.tar.gz"]);
  },
);
