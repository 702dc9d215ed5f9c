import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { startTimeOf } from "../../../src/os/process/identity.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { writeStatus } from "../../../src/team/records/write-records.ts";
import { cliIn } from "../../support/processes/in-process-cli.ts";
import { statusOf } from "../../support/team/status-records.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";
import { watchedPane, watchedTeam } from "../../support/tmux/watched-pane.ts";

const SPAWN = ["spawn", "bob", "--team", "crew", "--model", "scripted", "--teammate-mode", "tmux"];

describe("a tmux server whose socket was deleted", () => {
  it.each(["inside", "outside"])(
    "is described in the same words by every command %s tmux, and found again after SIGUSR1",
    async (where) => {
      const { t, teams, pane, server, sentence } = await withoutSocket(where);
      const remedy = `To restore the socket: kill -USR1 ${server.pid}`;
      const peek = await teams(["peek", "ada", "--json"]);
      expect(peek).toMatchObject({ code: 1, out: "" });
      expect(peek.error()).toMatchObject({ message: sentence, hint: expect.stringContaining(remedy) });
      const status = (await teams(["status", "crew", "--json"])).json<{ problems: string[] }>();
      expect(status.problems).toEqual([
        expect.stringContaining(`${sentence} Its panes and agents keep running. ${remedy}`),
      ]);
      const doctor = (await teams(["doctor", "--json"])).json<{ checks: unknown[] }>();
      expect(doctor.checks).toContainEqual({
        name: where === "inside" ? "tmux server" : "team crew",
        level: "fail",
        text: sentence,
        remedy: expect.stringContaining(remedy),
      });
      for (const words of [
        ["hide", "ada"],
        ["type", "ada", "hello"],
        ["layout", "tiled", "--team", "crew"],
        SPAWN,
      ]) {
        const ended = await teams([...words, "--json"]);
        expect([words[0], ended.code, ended.error().message]).toEqual([words[0], 1, sentence]);
      }
      // No second server has taken its place.
      expect(existsSync(server.socket)).toBe(false);
      process.kill(server.pid, "SIGUSR1");
      await eventually("the socket", () => existsSync(server.socket));
      expect(t.tmux("display-message", "-p", "-t", pane, "#{pid}")).toBe(String(server.pid));
      expect((await teams(["peek", "ada"])).out).toContain("ready");
      expect((await teams(["status", "crew", "--json"])).json()).not.toHaveProperty("problems");
    },
  );

  it("gets a hint that also restores its directory, if that is missing too", async () => {
    const { teams, server } = await withoutSocket("outside");
    rmSync(dirname(server.socket), { recursive: true });
    const { hint } = (await teams(["peek", "ada", "--json"])).error();
    expect(hint).toContain(`mkdir -m 700 ${dirname(server.socket)} && kill -USR1 ${server.pid}`);
  });
});

describe("a tmux server whose socket another server has taken", () => {
  it("keeps its panes: they do not count as gone", async () => {
    const { t, pane, teams } = await withoutSocket("outside");
    t.session("other");
    const status = (await teams(["status", "crew", "--json"])).json<{ members: unknown[] }>();
    expect(status.members).toContainEqual(
      expect.objectContaining({ name: "ada", alive: true, paneId: pane, exit: null }),
    );
  });
});

describe("the socket of a tmux server that runs without it", () => {
  it.each([
    ["spawn", ["bob", "--team", "other", "--model", "scripted", "--teammate-mode", "tmux"]],
    ["run", ["hello", "--team", "third", "--playbook", "play.json", "--detach"]],
    ["resume", ["crew", "--teammate-mode", "tmux"]],
  ])("is not taken by another server for teams %s", async (command, words) => {
    const { t, server, place, teams, sentence } = await withoutSocket("outside");
    const playbook = join(t.home, "play.json");
    writeFileSync(playbook, JSON.stringify({ version: 1, agents: { "*": [{ say: "Hello." }] } }));
    expect((await teams(["create", "other"])).code).toBe(0);
    // Only an agent that has ended can be resumed.
    const { panePid = 0 } = place;
    process.kill(panePid, "SIGKILL");
    await eventually("the end of its program", () => startTimeOf(panePid) === undefined);
    const given = words.map((word) => (word === "play.json" ? playbook : word));
    const { code, err } = await teams([command, ...given, "--json"]);
    expect([code, err]).toEqual([1, expect.stringContaining(sentence)]);
    expect(existsSync(server.socket)).toBe(false);
  });

  it("is not taken from a lead in its own session, which has no record of its place", async () => {
    const t = privateTmux();
    t.session();
    const ref = await watchedTeam(t);
    const [socket = "", pid] = t.tmux("display-message", "-p", "#{socket_path} #{pid}").split(" ");
    const procStart = startTimeOf(Number(pid)) ?? "";
    writeStatus(ref, LEAD_NAME, statusOf({ paneId: "%0", server: { socket, pid: Number(pid), procStart } }));
    rmSync(socket);
    const problem = expect.stringContaining(`The tmux server (process ${pid}) is running, but its socket`);
    const teams = cliOf(t, t.env);
    const status = await teams(["status", "crew", "--json"]);
    expect(status.json<{ problems: string[] }>().problems).toEqual([problem]);
    const { code, err } = await teams([...SPAWN, "--json"]);
    expect([code, err]).toEqual([1, problem]);
    expect(existsSync(socket)).toBe(false);
  });

  it("does not stop a caller that has another socket directory", async () => {
    const { t, server, teams } = await withoutSocket("outside");
    const sockets = join(t.home, "other");
    mkdirSync(sockets, { mode: 0o700 });
    const spawned = await teams([...SPAWN, "--json"], { TMUX_TMPDIR: sockets });
    expect([spawned.code, spawned.err]).toEqual([0, ""]);
    expect(existsSync(server.socket)).toBe(false);
  });
});

describe("a $TMUX whose server has ended", () => {
  it.each(["is gone", "is left"])("counts as outside tmux when its socket %s", async (socket) => {
    const t = privateTmux();
    const { pane } = t.session();
    const inside = t.inside(pane);
    const path = t.tmux("display-message", "-p", "#{socket_path}");
    const pid = Number(t.tmux("display-message", "-p", "#{pid}"));
    if (socket === "is gone") {
      await t.killServer();
      rmSync(path, { force: true });
    } else {
      process.kill(pid, "SIGKILL");
      await eventually("the server's end", () => startTimeOf(pid) === undefined);
      expect(existsSync(path)).toBe(true);
    }
    const teams = cliOf(t, inside);
    const doctor = (await teams(["doctor", "--json"])).json<{ checks: unknown[] }>();
    expect(doctor.checks).toContainEqual({
      name: "inside tmux",
      level: "warn",
      text: `no: $TMUX names a tmux server that has ended (${path}); teammates get a detached session`,
      remedy: "Remove the variables from this shell: unset TMUX TMUX_PANE",
    });
    // The doctor does not start a server at that socket.
    expect(existsSync(path)).toBe(socket === "is left");
  });
});

/** Creates a team with a member in a pane, and deletes the socket of its tmux server. */
async function withoutSocket(where: string) {
  const t = privateTmux();
  const { place, pane } = await watchedPane(t);
  const { server } = place;
  if (server === undefined) throw new Error("The place has no server.");
  const teams = cliOf(t, where === "inside" ? t.inside(pane) : t.env);
  rmSync(server.socket);
  const sentence = `The tmux server (process ${server.pid}) is running, but its socket ${server.socket} was deleted: no client can reach its panes.`;
  return { t, pane, server, place, teams, sentence };
}

function cliOf(t: PrivateTmux, caller: Readonly<Record<string, string | undefined>>) {
  const cli = cliIn(t.home);
  const env = Object.fromEntries(
    Object.entries(caller).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return (words: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    cli(words, { env: { ...env, ...more } });
}
