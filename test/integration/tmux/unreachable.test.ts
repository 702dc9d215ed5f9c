import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { findProgram } from "../../../src/os/files/access.ts";
import { startFromPs } from "../../../src/os/process/identity.ts";
import { keepsRunning } from "../../../src/tmux/unreachable.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

const { platform } = process;

afterEach(() => {
  Object.defineProperty(process, "platform", { value: platform });
  vi.unstubAllEnvs();
});

it("keepsRunning › forks ps at most twice while it waits for a server on macOS", async () => {
  const home = temporaryDirectory();
  const calls = join(home, "calls");
  const ps = join(home, "ps");
  writeFileSync(calls, "");
  writeFileSync(ps, `#!/bin/sh\necho call >>'${calls}'\nexec '${findProgram("ps", process.env)}' "$@"\n`);
  chmodSync(ps, 0o755);
  const procStart = startFromPs(process.pid);
  Object.defineProperty(process, "platform", { value: "darwin" });
  vi.stubEnv("PATH", `${home}:${process.env.PATH}`);
  expect(await keepsRunning({ pid: process.pid, procStart })).toBe(true);
  expect(readFileSync(calls, "utf8").split("call").length - 1).toBeLessThanOrEqual(2);
});
