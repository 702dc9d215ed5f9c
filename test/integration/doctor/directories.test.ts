import { chmodSync, mkdirSync, rmdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkRoot, checkRuntime } from "../../../src/doctor/directories.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

describe("directory checks", () => {
  it("checkRoot accepts a missing root, warns if others can write to it, and fails on a file", () => {
    const directory = temporaryDirectory();
    const root = join(directory, "a", "b");
    expect(checkRoot(root)).toMatchObject({ level: "ok", text: expect.stringContaining("will be created") });
    mkdirSync(root, { recursive: true, mode: 0o700 });
    expect(checkRoot(root)).toMatchObject({ level: "ok", text: root });
    chmodSync(root, 0o777);
    expect(checkRoot(root).level).toBe("warn");
    chmodSync(root, 0o700);
    for (const below of ["teams", "tasks"]) {
      mkdirSync(join(root, below));
      chmodSync(join(root, below), 0o777);
      expect(checkRoot(root)).toMatchObject({ level: "warn", remedy: expect.stringContaining(`/${below}`) });
      chmodSync(join(root, below), 0o700);
    }
    writeFileSync(join(directory, "file"), "");
    expect(checkRoot(join(directory, "file")).level).toBe("fail");
  });

  it("checkRuntime requires a private directory and does not create it", () => {
    const runtime = join(temporaryDirectory(), "teams");
    expect(checkRuntime(runtime)).toMatchObject({
      level: "ok",
      text: expect.stringContaining("will be created"),
    });
    mkdirSync(runtime, { mode: 0o700 });
    expect(checkRuntime(runtime).level).toBe("ok");
    chmodSync(runtime, 0o755);
    expect(checkRuntime(runtime)).toMatchObject({
      level: "fail",
      remedy: expect.stringContaining("chmod 700"),
    });
    rmdirSync(runtime);
    symlinkSync("/tmp", runtime);
    expect(checkRuntime(runtime)).toMatchObject({ level: "fail", remedy: expect.stringMatching(/^rm /) });
    rmSync(runtime);
    writeFileSync(runtime, "");
    expect(checkRuntime(runtime)).toMatchObject({ level: "fail", remedy: expect.stringMatching(/^Set /) });
  });
});
