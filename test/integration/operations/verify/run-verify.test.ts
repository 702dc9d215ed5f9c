import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type RanCommand, runVerify } from "../../../../src/operations/verify/run-verify.ts";
import { systemClock } from "../../../../src/os/clock.ts";
import { identityOf } from "../../../../src/os/process/identity.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { withGrowingLimit } from "../../../support/timing/long-enough.ts";

function runIn(cwd: string, command: string, timeoutMs = 180_000): Promise<RanCommand | undefined> {
  const env = { PATH: process.env.PATH ?? "", HOME: cwd, MY_TOKEN: "very-secret-value" };
  const signal = new AbortController().signal;
  return runVerify(
    command,
    { cwd, env, passSecrets: [], deny: [] },
    { timeoutMs, signal, clock: systemClock },
  );
}

test("runVerify › ends the command at its time limit, with all processes that it started", async () => {
  const cwd = temporaryDirectory();
  const command = "echo begun; (trap '' TERM HUP; sleep 600) & echo $! > child; wait";
  const file = join(cwd, "child");
  const child = (): number => (existsSync(file) ? Number(readFileSync(file, "utf8")) : 0);
  const ran = await withGrowingLimit(
    300,
    (limitMs) => runIn(cwd, command, limitMs),
    () => child() > 0,
  );
  expect(ran).toMatchObject({ outcome: "timed-out", tail: "begun" });
  await eventually("the child to end", () => identityOf(child()) === undefined);
});

test("runVerify › records the commit and the uncommitted files", async () => {
  const cwd = temporaryDirectory();
  const git = (...args: string[]): string =>
    execFileSync("git", ["-C", cwd, "-c", "user.name=t", "-c", "user.email=t@t", ...args], {
      encoding: "utf8",
    });
  git("init", "-q");
  git("commit", "-q", "--allow-empty", "-m", "first");
  writeFileSync(join(cwd, "new"), "");
  const commit = git("rev-parse", "HEAD").trim();
  expect(await runIn(cwd, "true")).toMatchObject({ outcome: "passed", exitCode: 0, commit, uncommitted: 1 });
});

test("runVerify › keeps the end of the output, without secrets and control characters", async () => {
  const ran = await runIn(
    temporaryDirectory(),
    "seq 1 3000; printf 'very-secret-value \\033[31mred'; exit 2",
  );
  expect(ran).toMatchObject({ outcome: "failed", exitCode: 2 });
  expect(ran?.tail).toMatch(/^2962\n.*\n3000\n\[secret\] red$/s);
});

test("runVerify › reports a directory that does not exist, and a command that a signal ended", async () => {
  expect(await runIn("/no/such/place", "true")).toMatchObject({ outcome: "not-started" });
  expect(await runIn(temporaryDirectory(), "kill -9 $$")).toMatchObject({
    outcome: "failed",
    signal: "SIGKILL",
  });
});
