import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { pause } from "../../../../src/os/clock.ts";
import { hasEnvEntry, processTable } from "../../../../src/os/process/process-table.ts";
import { Prewarmer, scriptOf } from "../../../../src/os/sandbox/prewarmer.ts";
import { script } from "../../../support/processes/script-process.ts";
import { describeInSandbox } from "../../../support/sandbox/sandboxed-agent.ts";
import { eventually } from "../../../support/timing/eventually.ts";

const taken = script("processes/prewarmed-take");
const takenWithMounts = script("processes/prewarmed-take", [
  ...["unshare", "--map-root-user", "--mount", "--propagation", "shared"],
]);
const takenWithoutEnv = script("processes/prewarmed-take", [
  ...["bwrap", "--dev-bind", "/", "/", "--ro-bind", "/dev/null", "/usr/bin/env", "--"],
]);

describeInSandbox("Prewarmer", () => {
  test("starts a program in the prewarmed sandbox", async () => {
    expect(await taken(":").line()).toBe("waiting");
  });

  test("does not use a sandbox that is older than a mount of this machine, which would be writable in it", async () => {
    expect(await takenWithMounts("mount -t tmpfs none /media").line()).toBe("another");
  });

  test("prepares no sandbox when /usr/bin/env is missing", async () => {
    expect(await takenWithoutEnv(":").line()).toBe("another");
  });

  test("leaves no process when a sandbox ends while it is being set up", async () => {
    const PATH = `${process.env.PATH}:/${randomUUID()}`;
    const prewarmer = new Prewarmer({ PATH });
    const view = { places: [], emptyFile: "/dev/null", network: "own" } as const;
    for (let moment = 0; moment < 60; moment++) {
      prewarmer.prepare({ maker: ["bwrap"], view });
      await pause(moment / 5);
      prewarmer.end();
    }
    await eventually(
      "each sandbox to end",
      () => !processTable().some(({ pid }) => hasEnvEntry(pid, `PATH=${PATH}`)),
    );
  });
});

test("scriptOf › returns undefined for words and variables that only the system can pass or refuse", () => {
  const of = (word: string, env = {}) => scriptOf({ cwd: "/", env, words: ["sh", word] });
  expect(of("x".repeat(60_000))?.length).toBeGreaterThan(60_000);
  // 128 KiB in UTF-8 and more, which is too long for the system.
  expect([of("…".repeat(50_000)) === undefined, of("a", { "": "b" })]).toEqual([true, undefined]);
});
