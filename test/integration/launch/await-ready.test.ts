import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { announceReady } from "../../../src/launch/announce-ready.ts";
import { awaitReady } from "../../../src/launch/await-ready.ts";
import { discardLaunch, prepareLaunches } from "../../../src/launch/prepare.ts";
import { replaceFile } from "../../../src/os/files/atomic-write.ts";
import { listDir } from "../../../src/os/files/fs.ts";
import type { AgentPaths } from "../../../src/protocol/paths.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

const START = { instance: "now", name: "rev", timeoutMs: 240_000 };

describe("awaitReady", () => {
  test("resolves as soon as the agent announces readiness", async () => {
    const paths = await prepared();
    const waiting = awaitReady(paths, START);
    announce(paths, "now");
    await expect(waiting).resolves.toBeUndefined();
  });

  test("resolves at once if the agent announced readiness before", async () => {
    const paths = await prepared();
    expect(announce(paths, "now")).toBe("unheard");
    await expect(awaitReady(paths, START)).resolves.toBeUndefined();
  });

  test("ignores the status and exit record of an earlier start", async () => {
    const paths = await prepared();
    announce(paths, "earlier");
    replaceFile(paths.exit, JSON.stringify({ instance: "earlier", code: 1, at: 1, lastLines: [] }));
    await expect(awaitReady(paths, { ...START, timeoutMs: 100 })).rejects.toMatchObject({
      code: "SPAWN_FAILED",
      details: { timedOut: true },
    });
  });

  test("counts a wait during which the machine slept as one second", async () => {
    const paths = await prepared();
    let [nowMs, checks] = [0, 0];
    const slept = {
      ...START,
      timeoutMs: 30_000,
      now: () => {
        nowMs += 60_000;
        return nowMs;
      },
    };
    const isAlive = () => {
      checks += 1;
      if (checks === 3) announce(paths, "now");
      return true;
    };
    await expect(awaitReady(paths, { ...slept, isAlive })).resolves.toBeUndefined();
  });

  test("fails if the launch script was killed, which rings no bell", async () => {
    const paths = await prepared();
    await expect(awaitReady(paths, { ...START, isAlive: () => false })).rejects.toMatchObject({
      code: "SPAWN_FAILED",
      message: expect.stringContaining("was killed"),
    });
  });

  test("fails with the signal that ended the program", async () => {
    const paths = await prepared();
    const exit = { instance: START.instance, code: 139, signal: "SIGSEGV", at: 1, lastLines: ["oh"] };
    replaceFile(paths.exit, JSON.stringify(exit));
    const message = expect.stringContaining("ended by SIGSEGV before it was ready: oh");
    await expect(awaitReady(paths, START)).rejects.toMatchObject({ code: "SPAWN_FAILED", message });
  });

  test("fails if the caller is interrupted", async () => {
    const paths = await prepared();
    const abort = new AbortController();
    const waiting = awaitReady(paths, { ...START, signal: abort.signal });
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ code: "INTERRUPTED" });
  });
});

test("discardLaunch › removes the files of a failed start, and keeps other files and their directory", async () => {
  const paths = await prepared();
  replaceFile(`${paths.run}/place.json`, "{}");
  discardLaunch(paths);
  expect(listDir(paths.run)).toEqual(["place.json"]);
  expect(listDir(paths.runtime)).toEqual([]);
});

test("discardLaunch › removes records that a killed agent or launch script left half written", async () => {
  const paths = await prepared();
  const ended = spawnSync(process.execPath, ["-p", "process.pid"], { encoding: "utf8" });
  for (const name of ["status.json", "exit.json"]) {
    writeFileSync(`${paths.run}/.${name}.${ended.stdout.trim()}.sh1.tmp`, "{");
  }
  writeFileSync(`${paths.run}/.notes.${ended.stdout.trim()}.sh1.tmp`, "mine");
  discardLaunch(paths);
  expect(listDir(paths.run).map((name) => name.split(".")[1])).toEqual(["notes"]);
});

async function prepared(): Promise<AgentPaths> {
  const t = privateTmux();
  const paths = t.paths("audit").agent("rev");
  const input = {
    agentId: "rev@audit",
    cwd: t.home,
    paths,
    keptVariables: [],
    bells: [],
    surface: "log",
  } as const;
  await prepareLaunches([input]);
  return paths;
}

function announce(paths: AgentPaths, instance: string): string {
  const status = {
    sessionId: "s",
    transcript: "t",
    process: { pid: 1, procStart: "0" },
    instance,
    state: "idle",
  };
  replaceFile(paths.status, JSON.stringify({ ...status, since: 0, startedAt: 0, lastActivityAt: 0 }));
  return announceReady(paths);
}
