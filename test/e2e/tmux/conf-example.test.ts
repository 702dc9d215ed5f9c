import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { identityOf } from "../../../src/os/process/identity.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { TEAMS, teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux, type Terminal } from "../../support/tmux/private-tmux.ts";

const EXAMPLE = fileURLToPath(new URL("../../../tmux.conf.example", import.meta.url));
const PLAYBOOK = {
  version: 1,
  agents: {
    "*": [
      { on: { contains: "begin" }, tools: [{ name: "Bash", input: { command: "touch allowed" } }] },
      { say: "It is done.", repeat: true },
    ],
  },
};

/** Presses a key of the example's table. */
async function pressKey(t: PrivateTmux, { type }: Terminal, key: string): Promise<void> {
  let typed = Number.NEGATIVE_INFINITY;
  await eventually("the keys", () => {
    const table = t.tmux("list-clients", "-F", "#{client_key_table}");
    // A closing popup still takes keys.
    if (table === "root" && performance.now() - typed > 2_000) {
      type("C-b", "T");
      typed = performance.now();
    }
    return table === "teams";
  });
  // tmux looks up keys of one read before it changes the key table.
  type(key);
}

it("tmux.conf.example › its keys open sidebar, overview, message, approvals and the next waiting agent", async () => {
  const bin = join(temporaryDirectory("tt-bin-"), "bin");
  const calls = join(bin, "calls");
  mkdirSync(bin);
  writeFileSync(
    join(bin, "teams"),
    `#!/bin/sh\necho "$$ $*" >>${calls}\nexec ${process.execPath} ${TEAMS} "$@"\n`,
    {
      mode: 0o755,
    },
  );
  const path = `${bin}:${process.env.PATH ?? ""}`;
  const t = privateTmux({
    config: `source-file ${EXAMPLE}`,
    env: { PATH: path, SHELL: "/bin/sh", PS1: "$ " },
  });
  const { pane } = t.session("work", { width: 160, height: 50 });
  // The default interval is 15 seconds.
  t.tmux("set-option", "-g", "status-interval", "1");
  writeFileSync(join(t.home, "play.json"), JSON.stringify(PLAYBOOK));
  const teams = teamsIn(t.env, t.home);
  const terminal = await t.attach("=work", { width: 160, height: 50 });
  const shows = (text: string | RegExp) =>
    eventually(`${text} on the screen`, () => terminal.screen().match(text)).catch((cause: unknown) => {
      throw new Error(`${text} never came. The screen:\n${terminal.screen()}`, { cause });
    });
  const press = (key: string): Promise<void> => pressKey(t, terminal, key);
  await teams(["create", "crew"]);
  const spawning = ["spawn", "dev", "--prompt", "begin", "--model", "scripted:play.json"];
  const spawned = await teams(spawning, { env: t.inside(pane) });
  expect([spawned.err, spawned.code]).toEqual(["", 0]);
  await eventually("the question", async () => (await teams(["approvals"])).out.includes("touch allowed"));

  await press("o");
  await shows(/dev +needs-input/);
  // The last row is the status line.
  await shows(/crew 1 needs-input · 1 waiting\s*$/);
  terminal.type("q");
  const [watching] = /^\d+(?= status --watch)/m.exec(readFileSync(calls, "utf8")) ?? [];
  await eventually("the end of status", () => identityOf(Number(watching)) === undefined);
  await eventually("the popup's end", () => !terminal.screen().includes("MEMBER"));
  await press("a");
  await shows(/permission of dev[\s\S]*touch allowed/);
  await eventually("the answer", () => {
    // A key pressed just after a request appears does not answer it.
    terminal.type("y");
    return existsSync(join(t.home, "allowed"));
  });
  await shows("Nothing is waiting for you.");
  terminal.type("q");
  await eventually("the popup's end", () => !terminal.screen().includes("Nothing is waiting for you."));
  await press("m");
  await shows("To:");
  terminal.type("dev", "Enter");
  await shows("Message:");
  terminal.type("--", "-x is what I meant", "Enter");
  await eventually("the message", async () =>
    (await teams(["inbox", "dev"])).out.includes("-x is what I meant"),
  );
  await press("s");
  const panes = (): string[] => t.tmux("list-panes", "-t", "=work:0", "-F", "#{pane_width}").split("\n");
  await eventually("the sidebar", () => panes()[1] === "34");
  await press("s");
  await eventually("the sidebar's end", () => panes().length === 1);
  // A message stays until the next key.
  t.tmux("set-option", "-g", "display-time", "0");
  await press("n");
  // The text must be alone on its row: an error of the shell would quote it.
  await shows(/^teams: no agent is waiting for you *$/m);
  const again = ["spawn", "ada", "--prompt", "begin", "--model", "scripted:play.json"];
  await teams(again, { env: t.inside(pane) });
  const waits = "#{m:needs-input,#{@teams_state}}";
  const ada = await eventually(
    "ada's question",
    () => t.tmux("list-panes", "-a", "-f", waits, "-F", "#{pane_id}") || undefined,
  );
  await press("n");
  await eventually("ada's pane", () => t.tmux("list-clients", "-F", "#{pane_id}") === ada);
  await teams(["kill", "crew", "--force", "--purge"]);
});

it("tmux.conf.example › its keys act on the team of the pane, without teams on the PATH, after two loads", async () => {
  // The PATH has only system directories: `teams` is in none of them.
  const t = privateTmux({
    config: `source-file ${EXAMPLE}`,
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", SHELL: "/bin/sh", PS1: "$ " },
  });
  const { pane } = t.session("work", { width: 160, height: 50 });
  t.tmux("set-option", "-g", "status-interval", "1");
  const settings = (): string => t.tmux("show-options", "-g") + t.tmux("list-keys");
  const before = settings();
  t.tmux("source-file", EXAMPLE);
  expect(settings()).toBe(before);

  const playbook = { version: 1, agents: { "*": [{ say: "It is done.", repeat: true }] } };
  writeFileSync(join(t.home, "play.json"), JSON.stringify(playbook));
  const teams = teamsIn({ ...t.env, PATH: process.env.PATH }, t.home);
  for (const team of ["one", "two"]) {
    await teams(["create", team]);
    const words = ["spawn", "cy", "--team", team, "--model", "scripted:play.json"];
    const spawned = await teams(words, { env: t.inside(pane) });
    expect([spawned.err, spawned.code]).toEqual(["", 0]);
  }
  const terminal = await t.attach("=work", { width: 160, height: 50 });
  const shows = (text: string | RegExp) =>
    eventually(`${text} on the screen`, () => terminal.screen().match(text)).catch((cause: unknown) => {
      throw new Error(`${text} never came. The screen:\n${terminal.screen()}`, { cause });
    });
  const hides = (text: string) => eventually(`the end of ${text}`, () => !terminal.screen().includes(text));
  const press = (key: string): Promise<void> => pressKey(t, terminal, key);
  const show = (address: string): void => {
    const id = t.tmux("list-panes", "-a", "-f", `#{==:#{@teams_agent_id},${address}}`, "-F", "#{pane_id}");
    t.tmux("switch-client", "-t", id);
  };
  // The user is in a window of neither team: the status line shows both.
  await shows(/one 1 idle +two 1 idle\s*$/);
  // The pane and its directory belong to neither team: the view shows the requests of both.
  await press("a");
  await shows("one, two");
  terminal.type("q");
  await hides("Nothing is waiting for you.");
  for (const team of ["one", "two"]) {
    show(`cy@${team}`);
    await press("o");
    await shows(`${team} - led by hand`);
    terminal.type("C-c");
    await hides("led by hand");
  }
  // In the pane of the second team.
  await press("m");
  await shows("To:");
  terminal.type("cy", "Enter");
  await shows("Message:");
  terminal.type("for the second", "Enter");
  await eventually("the message", async () =>
    (await teams(["inbox", "cy@two"])).out.includes("for the second"),
  );
  expect((await teams(["inbox", "cy@one"])).out).not.toContain("for the second");
  const panes = (): string[] => t.tmux("list-panes", "-F", "#{@teams_sidebar}").split("\n");
  await press("s");
  await eventually("the sidebar", () => panes().some((tag) => tag.endsWith("/two")));
  await press("s");
  await eventually("the sidebar's end", () => panes().every((tag) => tag === ""));
  // An error stays until a key is pressed.
  await press("m");
  await shows("To:");
  terminal.type("nobody", "Enter");
  await shows("Message:");
  terminal.type("x", "Enter");
  await shows(/nobody[\s\S]*Press any key to close/);
  terminal.type("x");
  await hides("Press any key to close");
  rmSync(join(t.runtime, "teams/.bin"), { recursive: true });
  await press("o");
  await shows("Run: teams doctor");
  await shows("Press any key to close");
  terminal.type("x");
  await hides("Press any key to close");
  for (const team of ["one", "two"]) await teams(["kill", team, "--force", "--purge"]);
});
