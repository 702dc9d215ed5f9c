import { existsSync, statSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { createProcessDirectory } from "../../../../src/os/process/process-directory.ts";
import { script } from "../../../support/processes/script-process.ts";

const opened = script("processes/open-directory");

describe("a process directory", () => {
  it("stays while its process lives, and is removed by the next process after a kill", async () => {
    const other = opened();
    const path = await other.line();
    const first = createProcessDirectory("socket");
    onTestFinished(first.remove);
    expect(statSync(path).mode & 0o777).toBe(0o700);
    other.child.kill("SIGKILL");
    await other.ended();
    expect(existsSync(path)).toBe(true);
    onTestFinished(createProcessDirectory("socket").remove);
    expect(existsSync(path)).toBe(false);
    expect(existsSync(first.path)).toBe(true);
  });

  it("is removed when its process ends", async () => {
    const other = opened();
    const path = await other.line();
    other.child.stdin?.end();
    await other.ended();
    expect(existsSync(path)).toBe(false);
  });
});
