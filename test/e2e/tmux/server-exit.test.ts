import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { livenessOf } from "../../../src/os/process/identity.ts";
import { hasEnvEntry, processTable, signalProcess } from "../../../src/os/process/process-table.ts";
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
    ada: [{ tools: [{ name: "Bash", input: { command: "until [ -e done ]; do sleep 0.1; done" } }] }],
  },
};

/** Starts a lead outside tmux with a teammate in a pane, and returns it with its watch on that pane's server. */
async function led() {
  const t = privateTmux();
  const ref = teamRef({ root: t.root, runtime: "" }, "crew");
  writeFileSync(join(t.home, "play.json"), JSON.stringify(PLAYBOOK));
  // The environment of a lead started in an agent's shell: its markers must not reach a server.
  const env = { ...t.env, TEAMS_INSTANCE: "somebody", CLAUDECODE: "1" };
  const words = ["--team", "crew", "--playbook", "play.json", "--permission-mode", "bypassPermissions"];
  const { child, ended } = startTeams(["run", ...words], env, t.home);
  let shown = "";
  child.stdout?.on("data", (chunk) => (shown += String(chunk)));
  child.stderr?.on("data", (chunk) => (shown += String(chunk)));
  const watch = await eventually("the watch", () => readStatus(ref, LEAD_NAME)?.serverWatches?.[0]);
  await eventually("the waiting client", () => livenessOf(watch.client) === "alive");
  // The watch begins with the pane. Before the teammate is ready, the server's end counts as a failed start.
  await eventually("the teammate's turn", () => readStatus(ref, "ada")?.state === "running");
  return { t, ref, child, ended, watch, shown: () => shown, teams: teamsIn(t.env, t.home) };
}

/** Starts such a lead, and deletes the socket of the server, which keeps running for the user's own session. */
async function ledWithoutSocket() {
  const lead = await led();
  lead.t.tmux("new-session", "-d", "-s", "stays", "--", "env", "cat");
  rmSync(lead.watch.server.socket);
  return lead;
}

/** Waits until only these tmux clients of this test are left: the clients of the teammate's short calls end. */
async function waitForClients(t: PrivateTmux, pids: readonly number[]): Promise<void> {
  const marker = `TEAMS_TEST=${t.env.TEAMS_TEST}`;
  await eventually(`the clients ${pids.join(", ")} alone`, () => {
    const clients = processTable().flatMap(({ pid, name }) =>
      name.startsWith("tmux: client") && hasEnvEntry(pid, marker) ? [pid] : [],
    );
    return isDeepStrictEqual(clients, pids);
  });
}

describe("a lead outside tmux", () => {
  it("reports the end of its teammates' server (S30)", async () => {
    const { t, ended, shown, child } = await led();
    await t.killServer();
    await eventually("the notification", () =>
      shown().includes("the tmux server of the teammates' panes has ended"),
    );
    await eventually("the teammate's end", () => /ada (crashed|ended)/.test(shown()));
    await waitForClients(t, []);
    child.kill("SIGINT");
    await ended;
  });

  it("reports a server killed by SIGKILL (S30)", async () => {
    const { watch, shown, child, ended } = await led();
    signalProcess(watch.server.pid, "SIGKILL");
    await eventually("the notification", () =>
      shown().includes("the tmux server of the teammates' panes has ended"),
    );
    child.kill("SIGINT");
    await ended;
  });

  it("waits again after a stray signal on its channel", async () => {
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

  it("leaves no waiting client after its end, and no marker in the server", async () => {
    const { t, child, ended, watch } = await led();
    expect(t.tmux("show-environment", "-g")).not.toMatch(/TEAMS_INSTANCE|CLAUDECODE/);
    const server = Number(t.tmux("display-message", "-p", "#{pid}"));
    await waitForClients(t, [watch.client.pid]);
    expect(hasEnvEntry(watch.client.pid, "TEAMS_INSTANCE=somebody")).toBe(false);
    t.tmux("new-session", "-d", "-s", "stays", "--", "env", "cat");
    child.kill("SIGINT");
    expect(await ended).toBe(130);
    expect(livenessOf({ pid: server })).toBe("alive");
    await waitForClients(t, []);
  });

  it("leaves one waiting client when killed, which the next command ends", async () => {
    const { t, ref, child, ended, teams, watch } = await led();
    child.kill("SIGKILL");
    await ended;
    expect(livenessOf(watch.client)).toBe("alive");
    expect((await teams(["status", "--team", "crew"])).code).toBe(0);
    await eventually("the client's end", () => livenessOf(watch.client) === "dead");
    await waitForClients(t, []);
    const { process } = readStatus(ref, "ada") ?? {};
    expect(process && livenessOf(process)).toBe("alive");
  });

  it("leaves no waiting client after its end when the server has lost its socket", async () => {
    const { t, child, ended, watch } = await ledWithoutSocket();
    child.kill("SIGINT");
    expect(await ended).toBe(130);
    await waitForClients(t, []);
    expect(livenessOf(watch.server)).toBe("alive");
  });

  it.each([["delete", "--force"], ["down"], ["resume"]])(
    "leaves one waiting client when killed, which teams %s ends when the server has lost its socket",
    async (command, ...options) => {
      const { t, child, ended, teams, watch } = await ledWithoutSocket();
      child.kill("SIGKILL");
      await ended;
      expect(livenessOf(watch.client)).toBe("alive");
      // The teammate's turn ends: the teammate can end when asked.
      writeFileSync(join(t.home, "done"), "");
      const { code, err } = await teams([command, "crew", ...options]);
      expect([code, err]).toEqual([0, ""]);
      await eventually("the client's end", () => livenessOf(watch.client) === "dead");
      await waitForClients(t, []);
    },
  );
});
