import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, readdirSync, readlinkSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { Lifelines } from "../../../src/operations/supervision/lifelines.ts";
import { supervise } from "../../../src/operations/supervision/supervise.ts";
import { removeTeamFiles } from "../../../src/team/config/delete-files.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import { prepareRun } from "../../../src/team/records/write-records.ts";
import { teamRef } from "../../../src/team/ref.ts";
import { ring } from "../../../src/wakeup/fifo-bell.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { script } from "../../support/processes/script-process.ts";
import { testTeam } from "../../support/team/test-team.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { contextOf, startWorker } from "../../support/worker/start-worker.ts";

const worker = script("team/worker");

test("deleted runtime directory › is created again with its bells, and no message is lost (S78)", async () => {
  const ref = await testTeam(["dev"]);
  const running = await startWorker(ref, { turns: [{ say: "ok", repeat: true }] });
  rmSync(ref.home.runtime, { recursive: true });
  await sendMessage(ref, { from: "team-lead", to: "dev", text: "are you there?" });
  await eventually("the message", () => running.shown.includes("received team-lead: are you there?"));
  const bell = readStatus(ref, "dev")?.bell ?? "";
  await eventually("the bell", () => ring(bell) === "rung");
  for (const path of [ref.home.runtime, ref.paths.runtime, ref.paths.agent("dev").runtime]) {
    expect(statSync(path).mode & 0o777).toBe(0o700);
  }
  expect(await running.stop()).toBe("stopped");
  expect(running.shown.filter((line) => line.startsWith("error"))).toEqual([]);
});

test("deleted runtime directory › is not created again by an agent whose team is deleted", async () => {
  const ref = await testTeam(["dev"]);
  const running = await startWorker(ref);
  await removeTeamFiles(ref);
  expect(await running.ended).toBe("team-gone");
  expect(running.shown.filter((line) => line.startsWith("error"))).toEqual([]);
  await expect(prepareRun(ref, ["dev"])).rejects.toMatchObject({ code: "TEAM_NOT_FOUND" });
  expect(existsSync(ref.home.runtime)).toBe(false);
});

test("deleted runtime directory › is not created again if the team is deleted while FIFOs are created", async () => {
  const ref = await testTeam(["dev"]);
  const bin = temporaryDirectory();
  const mkfifo = execFileSync("sh", ["-c", "command -v mkfifo"], { encoding: "utf8" }).trim();
  writeFileSync(join(bin, "mkfifo"), `#!/bin/sh\nrm -r '${ref.paths.dir}'\nexec ${mkfifo} "$@"\n`);
  chmodSync(join(bin, "mkfifo"), 0o700);
  vi.stubEnv("PATH", `${bin}:${process.env.PATH}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect(prepareRun(ref, ["dev"])).rejects.toMatchObject({ code: "TEAM_NOT_FOUND" });
  expect(existsSync(ref.paths.runtime)).toBe(false);
});

test.runIf(process.platform === "linux")(
  "deleted runtime directory › supervision follows the new lifeline and notices the end (S78)",
  async () => {
    const ref = await testTeam(["dev"]);
    const { lifeline } = ref.paths.agent("dev");
    const dev = worker(ref.home.root, ref.team, "dev", "goes on");
    expect(await dev.line()).toBe("ready");
    // The launch script holds the lifeline open like this and cannot close the old one.
    const holder = spawn("sh", ["-c", 'exec 9<>"$1"; echo here; exec sleep 600', "sh", lifeline]);
    onTestFinished(() => void holder.kill("SIGKILL"));
    await once(holder.stdout, "data");
    const stopping = new AbortController();
    const ends: string[] = [];
    const watch = supervise(contextOf(ref), {
      signal: stopping.signal,
      onEnd: ({ name, how }) => ends.push(`${name} ${how}`),
      onChange: () => undefined,
      onProblem: (message) => ends.push(message),
    });
    onTestFinished(async () => {
      stopping.abort();
      await watch;
    });
    await eventually("the watch of the lifeline", () => hasOpen(lifeline));
    rmSync(ref.home.runtime, { recursive: true });
    expect(hasOpen(lifeline)).toBe(false);
    await sendMessage(ref, { from: "team-lead", to: "dev", text: "hello" });
    await eventually("the new lifeline", () => ring(lifeline) === "rung");
    // Any activity of the team triggers a check; without this line the slow check finds it.
    await sendMessage(ref, { from: "team-lead", to: "dev", text: "hello again" });
    await eventually("the watch of the new lifeline", () => hasOpen(lifeline));
    dev.child.kill("SIGKILL");
    await eventually("the report of the end", () => ends.length > 0);
    expect(ends).toEqual(["dev crashed"]);
  },
);

test.runIf(process.platform === "linux")(
  "supervision › finds the lifeline in another runtime directory through the member's status",
  async () => {
    const ref = await testTeam(["dev"]);
    const elsewhere = teamRef({ root: ref.home.root, runtime: join(temporaryDirectory(), "hash") }, ref.team);
    const dev = worker(ref.home.root, ref.team, "dev", "goes on");
    expect(await dev.line()).toBe("ready");
    const lines = new Lifelines(contextOf(elsewhere));
    onTestFinished(() => lines.bell.close());
    lines.follow();
    expect(hasOpen(ref.paths.agent("dev").lifeline)).toBe(true);
    const ended = lines.bell.wait();
    dev.child.kill("SIGKILL");
    expect(await ended).toBe("rung");
  },
);

/** True if this process has the file open that is currently at this path. */
function hasOpen(path: string): boolean {
  return readdirSync("/proc/self/fd").some((fd) => {
    try {
      return readlinkSync(join("/proc/self/fd", fd)) === path;
    } catch {
      // The descriptor of this directory listing is already closed.
      return false;
    }
  });
}
