import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { supervise } from "../../../../src/operations/supervision/supervise.ts";
import { identityOf, startTimeOf } from "../../../../src/os/process/identity.ts";
import { writePlace } from "../../../../src/team/records/read-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { privateTmux } from "../../../support/tmux/private-tmux.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

it("supervise › reports listeners that fail, including for the end of a tmux server, and continues", async () => {
  const t = privateTmux();
  const { pane } = t.session();
  const ref = await testTeam(["dev"]);
  const [socket = "", pid = ""] = t.tmux("display-message", "-p", "#{socket_path} #{pid}").trim().split(" ");
  const server = { socket, pid: Number(pid), procStart: startTimeOf(Number(pid)) ?? "" };
  writePlace(ref, "dev", { instance: "i", backend: "tmux", paneId: pane, server, spawnedAt: 1 });
  const problems: string[] = [];
  const watches: number[] = [];
  let changes = 0;
  const stopping = new AbortController();
  const supervised = supervise(contextOf(ref, undefined, { env: t.env }), {
    signal: stopping.signal,
    onEnd: () => undefined,
    onChange: () => {
      changes += 1;
      throw new Error("no redraw");
    },
    onProblem: (text) => problems.push(text),
    servers: {
      onExit: () => {
        throw new Error("no team file");
      },
      onWatches: (all) => {
        watches.push(all.length);
        if (all.length === 0) throw new Error("no status file");
      },
    },
  });
  onTestFinished(async () => {
    stopping.abort();
    await supervised;
  });
  await eventually("the watch", () => watches.includes(1));
  expect(identityOf(server.pid)).toBeDefined();
  await t.killServer();
  await eventually("the failure of the listener", () => problems.includes("no status file"));
  const before = changes;
  writeFileSync(join(ref.paths.dir, "note"), "");
  await eventually("the next change", () => changes > before);
  expect(new Set(problems)).toEqual(new Set(["no redraw", "no status file"]));
});
