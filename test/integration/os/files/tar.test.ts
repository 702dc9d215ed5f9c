import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  type FileToPack,
  packArchive,
  readArchive,
  replaceWithBytes,
  wholeLinesOf,
} from "../../../../src/os/files/tar.ts";
import { allOf, packed, stream, unpacked } from "../../../support/files/archive-files.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

const packedBytes = (files: readonly FileToPack[]): Promise<Buffer> => allOf(packArchive(files, 1_000));

describe("an archive that is packed", () => {
  test("holds each file, of one that grows only what was there", async () => {
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

  test("whole lines are found however long the last one is, and of a file that is not there none", () => {
    const path = join(temporaryDirectory(), "log");
    expect(wholeLinesOf(path)).toBeUndefined();
    writeFileSync(path, "x".repeat(200_000));
    expect(wholeLinesOf(path)).toEqual({ path, length: 0 });
    writeFileSync(path, `one\n${"x".repeat(200_000)}`);
    expect(wholeLinesOf(path)).toEqual({ path, length: 4 });
  });

  test.each([
    ["is gone", undefined],
    ["has become shorter", "abc"],
  ])("is no archive when one of its files %s meanwhile", async (_what, text) => {
    const path = join(temporaryDirectory(), "log");
    if (text !== undefined) writeFileSync(path, text);
    await expect(packedBytes([{ name: "a", content: { path, length: 10 } }])).rejects.toThrow();
  });

  test("replaces a file when it is whole, and leaves nothing beside when it is not", async () => {
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

describe("an archive that is read", () => {
  const read = (bytes: Buffer, take: () => Promise<void> = async () => undefined, most = 1_000_000) =>
    readArchive(stream(bytes), most, take);

  test("gives each file with its bytes, also where the one before was passed over", async () => {
    const bytes = await packed([
      { name: "big", text: "x".repeat(300_000) },
      { name: "small", text: "y" },
    ]);
    const seen: string[] = [];
    await readArchive(stream(bytes), 1_000_000, async ({ name, size, bytes: content }) => {
      if (name === "small") seen.push(`${name} ${size} ${await allOf(content)}`);
    });
    expect(seen).toEqual(["small 1 y"]);
  });

  test("ends at its bound, whatever its size in compressed form", async () => {
    const bytes = await packed([{ name: "bomb", text: " ".repeat(900_000) }]);
    expect(bytes.length).toBeLessThan(2_000);
    await expect(read(bytes, undefined, 100_000)).rejects.toMatchObject({
      code: "CORRUPT_FILE",
      message: expect.stringContaining("more than 100000 bytes"),
    });
  });

  test("fails with the taker's own reason", async () => {
    const full = Object.assign(new Error("ENOSPC: full"), { code: "ENOSPC", syscall: "write" });
    const bytes = await packed([{ name: "a", text: "x" }, { name: "b" }]);
    await expect(read(bytes, () => Promise.reject(full))).rejects.toBe(full);
  });

  test("is refused wherever it is cut", async () => {
    const bytes = await packed([{ name: "a", text: "x".repeat(3_000) }]);
    for (let length = 0; length < bytes.length; length += 7) {
      await expect(read(bytes.subarray(0, length))).rejects.toMatchObject({ code: "CORRUPT_FILE" });
    }
  });
});
