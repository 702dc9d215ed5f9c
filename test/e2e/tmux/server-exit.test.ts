import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { livenessOf } from "../../../src/os/process/identity.ts";
import { processTable, signalProcess, startedWith } from "../../../src/os/process/process-table.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import { teamRef } from "../../../src/team/ref.ts";
import { startTeams, teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";

const PLAYBOOK = {
  version: 1,
  agents: {
    "team-lead": [
      { tools: [{ name: "Agent", input: { name: "ada", prompt: "wait here" } }] },
      { say: "It is there.", repeat: true },
    ],
    ada: [{ tools: [{ name: "Bash", input: { command: "sleep 300" } }] }],
  },
};

/** A lead outside of tmux whose teammate works in a pane, and what watches that pane's server. */
async function led() {
  const t = privateTmux();
  const ref = teamRef({ root: t.root, runtime: "" }, "crew");
  writeFileSync(join(t.home, "play.json"), JSON.stringify(PLAYBOOK));
  // As a lead in an agent's shell is started: its marks must not reach a server.
  const env = { ...t.env, TEAMS_INSTANCE: "somebody", CLAUDECODE: "1" };
  const words = ["--team", "crew", "--playbook", "play.json", "--permission-mode", "bypassPermissions"];
  const { child, ended } = startTeams(["run", ...words], env, t.home);
  let shown = "";
  child.stdout?.on("data", (chunk) => (shown += String(chunk)));
  child.stderr?.on("data", (chunk) => (shown += String(chunk)));
  const watch = await eventually("the watch", () => readStatus(ref, LEAD_NAME)?.serverWatches?.[0], 20_000);
  await eventually("the waiting client", () => livenessOf(watch.client) === "alive");
  return { t, ref, child, ended, watch, shown: () => shown, teams: teamsIn(t.env, t.home) };
}

/** The clients of this test's server that wait. */
function waiting(t: PrivateTmux): number[] {
  const marker = `TEAMS_TEST=${t.env.TEAMS_TEST}`;
  return processTable().flatMap(({ pid, name }) =>
    name.startsWith("tmux: client") && startedWith(pid, marker) ? [pid] : [],
  );
}

describe("a lead outside of tmux", () => {
  it("is told of the end of the server that its teammates live in (S30)", async () => {
    const { t, ended, shown, child } = await led();
    await t.killServer();
    await eventually("the news", () => shown().includes("the tmux server of the teammates' panes has ended"));
    await eventually("the teammate's end", () => /ada (crashed|ended)/.test(shown()));
    expect(waiting(t)).toEqual([]);
    child.kill("SIGINT");
    await ended;
  });

  it("hears of a server that was killed by SIGKILL as well (S30)", async () => {
    const { watch, shown, child, ended } = await led();
    signalProcess(watch.server.pid, "SIGKILL");
    await eventually("the news", () => shown().includes("the tmux server of the teammates' panes has ended"));
    child.kill("SIGINT");
    await ended;
  });

  it("takes a signal of its channel for what it is, and waits on", async () => {
    const { t, ref, watch, shown, child, ended } = await led();
    t.tmux("wait-for", "-S", watch.channel);
    const next = await eventually("another client", () => {
      const now = readStatus(ref, LEAD_NAME)?.serverWatches?.[0];
      return now !== undefined && now.client.pid !== watch.client.pid && now;
    });
    expect(livenessOf(next.client)).toBe("alive");
    expect(shown()).not.toContain("has ended");
    child.kill("SIGINT");
    await ended;
  });

  it("leaves no client waiting when it ends, and the server nothing of its marks", async () => {
    const { t, child, ended, watch } = await led();
    expect(t.tmux("show-environment", "-g")).not.toMatch(/TEAMS_INSTANCE|CLAUDECODE/);
    const server = Number(t.tmux("display-message", "-p", "#{pid}"));
    expect(waiting(t)).toEqual([watch.client.pid]);
    expect(startedWith(watch.client.pid, "TEAMS_INSTANCE=somebody")).toBe(false);
    t.tmux("new-session", "-d", "-s", "stays", "--", "env", "cat");
    child.kill("SIGINT");
    expect(await ended).toBe(130);
    expect(livenessOf({ pid: server })).toBe("alive");
    expect(waiting(t)).toEqual([]);
  });

  it("that was killed leaves one, which the next command ends", async () => {
    const { t, ref, child, ended, teams, watch } = await led();
    child.kill("SIGKILL");
    await ended;
    expect(livenessOf(watch.client)).toBe("alive");
    expect((await teams(["status", "--team", "crew"])).code).toBe(0);
    await eventually("the client's end", () => livenessOf(watch.client) === "dead");
    expect(waiting(t)).toEqual([]);
    const { process } = readStatus(ref, "ada") ?? {};
    expect(process && livenessOf(process)).toBe("alive");
  });
});
