import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkGit, checkShell, checkTmux } from "../../../src/doctor/programs.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

describe("required programs", () => {
  it("reports a missing program and says how to install it", async () => {
    const env = { PATH: temporaryDirectory() };
    expect(await checkTmux(env)).toMatchObject({
      level: "fail",
      remedy: expect.stringContaining("install tmux"),
    });
    expect(await checkGit(env)).toMatchObject({ level: "warn", text: "not found on the PATH" });
  });

  it("reports a git that fails, and how to see why", async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, "git"), "#!/bin/sh\necho 'xcode-select: no developer tools' >&2\nexit 1\n");
    chmodSync(join(directory, "git"), 0o755);
    expect(await checkGit({ PATH: directory })).toMatchObject({
      level: "warn",
      text: "does not print its version",
      remedy: expect.stringContaining("git --version"),
    });
  });

  it("warns about a missing shell and about a shell that it cannot take a snapshot of", () => {
    const directory = temporaryDirectory();
    const shell = (name: string): string => {
      writeFileSync(join(directory, name), "");
      chmodSync(join(directory, name), 0o755);
      return join(directory, name);
    };
    expect(checkShell({ SHELL: shell("zsh") }).level).toBe("ok");
    const fish = shell("fish");
    expect(checkShell({ SHELL: fish })).toMatchObject({
      level: "ok",
      text: `${fish}: agents get its PATH, not its functions`,
    });
    expect(checkShell({ SHELL: shell("nu") })).toMatchObject({
      level: "warn",
      remedy: expect.stringMatching(/bash, zsh\.$/),
    });
    expect(checkShell({ SHELL: join(directory, "gone") })).toMatchObject({ level: "warn" });
    expect(checkShell({}).level).toBe("warn");
  });
});
