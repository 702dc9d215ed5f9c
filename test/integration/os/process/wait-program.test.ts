import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startSentinel } from "../../../../src/os/process/spawn.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { script } from "../../../support/processes/script-process.ts";

const waitFor = script("processes/wait-for-program");

function fifo(): string {
  const path = join(temporaryDirectory(), "fifo");
  execFileSync("mkfifo", [path]);
  return path;
}

describe("startSentinel", () => {
  it("does not keep the process alive if not held", async () => {
    const path = fifo();
    const free = waitFor("free", path);
    expect(await free.line()).toBe("waiting");
    expect(await free.ended()).toMatchObject({ signal: null });
    await expect(free.line()).rejects.toThrow("ended");
    writeFileSync(path, "\n");
  });

  it("keeps the process alive until the program ends once held", async () => {
    const path = fifo();
    const held = waitFor("held", path);
    expect(await held.line()).toBe("waiting");
    writeFileSync(path, "\n");
    expect(await held.line()).toBe("ended");
  });

  it("reports a program that cannot be started as ended", async () => {
    const missing = startSentinel("/no/such/program", [], {});
    expect(missing.process).toBeUndefined();
    await missing.ended;
  });
});
