import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { TeamStatus } from "../../../src/operations/status.ts";
import type { Env } from "../../../src/os/env.ts";
import { startTimeOf } from "../../../src/os/process/identity.ts";
import { readPlace, readStatus } from "../../../src/team/records/read-records.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { leaves, nothing } from "../../support/assertions/leftovers.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { isAtRest } from "../../support/team/is-at-rest.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";

const PLAYBOOK = { version: 1, agents: { "*": [{ say: "I am there.", repeat: true }] } };

/** Creates a team with one idle teammate, in a window of a user's session. */
async function withDev() {
  const t = privateTmux();
  const { pane } = t.session();
  writeFileSync(join(t.home, "play.json"), JSON.stringify(PLAYBOOK));
  const teams = teamsIn(t.env, t.home);
  const call = (words: string, env: Env = t.inside(pane)) =>
    teams(words.split(" "), { env: { ...t.env, ...env } });
  const done = async (words: string, env?: Env) => {
    const ended = await call(words, env);
    expect([words, ended.code, ended.err]).toEqual([words, 0, ""]);
    return ended;
  };
  const ref = teamRef(teamsHome(t.env), "crew");
  await done("create crew");
  await done("spawn dev --model scripted:play.json --prompt begin");
  const place = readPlace(ref, "dev");
  if (place?.paneId === undefined) throw new Error("dev has no pane");
  const screen = (): string => t.tmux("capture-pane", "-p", "-t", place.paneId ?? "");
  await eventually("dev to be idle", () => screen().includes("I am there.") && isAtRest(ref, "dev"));
  return { t, ref, user: pane, call, done, place, dev: place.paneId };
}

/** The properties of a user's pane that no command on the team may change. */
function stateOf(t: PrivateTmux, pane: string): string {
  const format =
    "#{pane_id} #{pane_pid} #{pane_dead} #{window_name} #{window_layout} #{pane_title} #{history_size}";
  return `${t.tmux("display-message", "-p", "-t", pane, format)}\n${t.tmux("capture-pane", "-p", "-t", pane)}`;
}

/** Every command that may change a teammate's pane. */
const COMMANDS = [
  "status",
  "peek dev",
  "attach dev --json",
  "hide dev",
  "show dev",
  "layout even-vertical",
  "kill dev",
];

/** Opens a window of the user with the name of the team's window, and returns its pane. */
const openTwin = (t: PrivateTmux): string =>
  t.tmux(
    ...["new-window", "-d", "-n", "crew", "-t", "=work:", "-P", "-F", "#{pane_id}"],
    ...["--", "env", "cat"],
  );

describe("a user's pane that looks like a teammate's (S39)", () => {
  it("is left untouched when it has the same title, name and tags", async () => {
    const { t, user, call, done, dev } = await withDev();
    const twin = openTwin(t);
    for (const line of t.tmux("show-options", "-p", "-t", dev).split("\n")) {
      const [option = ""] = line.split(" ");
      t.tmux("set-option", "-p", "-t", twin, option, t.tmux("show-options", "-pqv", "-t", dev, option));
    }
    t.tmux("select-pane", "-t", twin, "-T", t.tmux("display-message", "-p", "-t", dev, "#{pane_title}"));
    expect(t.tmux("show-options", "-pqv", "-t", twin, "@teams_agent")).not.toBe("");
    const before = [stateOf(t, user), stateOf(t, twin)];
    for (const words of COMMANDS) expect([words, (await call(words)).err]).toEqual([words, ""]);
    expect([stateOf(t, user), stateOf(t, twin)]).toEqual(before);
    await done("kill crew --force --purge");
    expect([stateOf(t, user), stateOf(t, twin)]).toEqual(before);
    await leaves(t, nothing(["work:cat", "work:cat"]));
  });

  it("is left untouched when it has the id of the teammate's pane on a previous server, even by resume", async () => {
    const { t, call, done, dev, place, ref } = await withDev();
    await t.killServer();
    await eventually("dev's end", () => startTimeOf(readStatus(ref, "dev")?.process.pid ?? 0) === undefined);
    t.session();
    let twin = "";
    while (twin !== dev) {
      twin = openTwin(t);
    }
    t.tmux("set-option", "-p", "-t", twin, "@teams_agent", place.instance);
    const before = stateOf(t, twin);
    for (const words of COMMANDS.slice(0, -1)) await call(words);
    expect(stateOf(t, twin)).toBe(before);
    await done("resume crew");
    expect(readPlace(ref, "dev")?.paneId).not.toBe(twin);
    await done("kill crew --force --purge");
    expect(stateOf(t, twin)).toBe(before);
  });

  it("is left untouched when the user started another program in the teammate's pane", async () => {
    const { t, call, done, dev, ref } = await withDev();
    t.tmux("respawn-pane", "-k", "-t", dev, "env", "cat");
    await eventually("dev's end", () => startTimeOf(readStatus(ref, "dev")?.process.pid ?? 0) === undefined);
    t.tmux("send-keys", "-t", dev, "mine", "Enter");
    await eventually("an echo", () => t.tmux("capture-pane", "-p", "-t", dev).includes("mine\nmine"));
    const before = t.tmux("display-message", "-p", "-t", dev, "#{pane_pid} #{history_size}");
    expect((await call("peek dev")).out).not.toContain("mine");
    for (const words of COMMANDS) await call(words);
    await done("kill crew --force --purge");
    expect(t.tmux("display-message", "-p", "-t", dev, "#{pane_pid} #{history_size}")).toBe(before);
    expect(t.tmux("capture-pane", "-p", "-t", dev)).toMatch(/^mine\nmine\s*$/);
  });
});

const MOVES: [string, (t: PrivateTmux, dev: string, user: string) => unknown][] = [
  ["joined to a user's window", (t, dev, user) => t.tmux("join-pane", "-d", "-s", dev, "-t", user)],
  ["broken out into its own window", (t, dev) => t.tmux("break-pane", "-d", "-s", dev, "-n", "mine too")],
  ["swapped with a user's pane", (t, dev, user) => t.tmux("swap-pane", "-d", "-s", dev, "-t", user)],
  [
    "moved to another session with another window name and title",
    (t, dev) => {
      const { pane } = t.session("elsewhere");
      t.tmux("move-pane", "-d", "-s", dev, "-t", pane);
      t.tmux("rename-window", "-t", dev, "not the team's");
      t.tmux("select-pane", "-t", dev, "-T", "nobody@nowhere");
    },
  ],
];

describe("a teammate's pane", () => {
  it.each(MOVES)("stays reachable for status, peek, attach, hide, show and kill when %s", async (_, move) => {
    const { t, user, done, dev } = await withDev();
    await t.attach("=work");
    move(t, dev, user);
    const users = t.tmux("list-panes", "-a", "-F", "#{pane_id}:#{pane_pid}").split("\n");
    const pid = t.tmux("display-message", "-p", "-t", dev, "#{pane_pid}");
    const { members } = (await done("status --json")).json<TeamStatus>();
    expect(members[1]).toMatchObject({ name: "dev", state: "idle", alive: true, paneId: dev });
    expect((await done("peek dev")).out).toContain("I am there.");
    await done("attach dev");
    const client = t.tmux("list-clients", "-F", "#{client_name}");
    const shownPane = (): string => t.tmux("display-message", "-p", "-c", client, "#{pane_id}");
    await eventually("the client in the pane", () => shownPane() === dev);
    for (const words of ["hide dev", "show dev"]) {
      await done(words);
      expect(t.tmux("display-message", "-p", "-t", dev, "#{pane_pid}")).toBe(pid);
    }
    await done("kill dev");
    await eventually(
      "its pane's end",
      () => !t.tmux("list-panes", "-a", "-F", "#{pane_id}").split("\n").includes(dev),
    );
    const left = t.tmux("list-panes", "-a", "-F", "#{pane_id}:#{pane_pid}").split("\n");
    expect(left.sort()).toEqual(users.filter((one) => !one.startsWith(`${dev}:`)).sort());
  });
});
