import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Bell } from "../../../src/wakeup/bell.ts";
import { openFileBell } from "../../../src/wakeup/file-bell.ts";
import { openTreeBell } from "../../../src/wakeup/tree-bell.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

/** Each watches a file in a directory that may appear later, be replaced or disappear. */
const WATCHES: Record<string, (file: string) => Bell> = {
  "file bell": openFileBell,
  "tree bell": (file) => openTreeBell([dirname(file)]),
};

describe.each(Object.entries(WATCHES))("%s", (_name, open) => {
  test("rings when the directory appears later, first for files written before the watch", async () => {
    const { file, bell } = subject(open);
    expect(await bell.wait({ timeoutMs: 10 })).toBe("timeout");
    mkdirSync(dirname(file));
    write(file);
    expect(await bell.wait()).toBe("rung");
    await silence(bell);
    write(file);
    expect(await bell.wait()).toBe("rung");
  });

  test("rings when the directory is replaced", async () => {
    const { file, bell } = subject(open);
    mkdirSync(dirname(file));
    expect(await bell.wait()).toBe("rung");
    rmSync(dirname(file), { recursive: true });
    expect(await bell.wait()).toBe("rung");
    await silence(bell);
    mkdirSync(dirname(file));
    await silence(bell);
    write(file);
    expect(await bell.wait()).toBe("rung");
  });
});

function subject(open: (file: string) => Bell): { file: string; bell: Bell } {
  const file = join(temporaryDirectory(), "inboxes", "dev.json");
  const bell = open(file);
  onTestFinished(() => bell.close());
  return { file, bell };
}

async function silence(bell: Bell): Promise<void> {
  while ((await bell.wait({ timeoutMs: 30 })) === "rung");
}

function write(file: string): void {
  writeFileSync(`${file}.new`, "[]");
  renameSync(`${file}.new`, file);
}
