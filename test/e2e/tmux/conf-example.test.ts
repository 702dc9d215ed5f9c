import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { identityOf } from "../../../src/os/process/identity.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { TEAMS, teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

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
    eventually(`${text} on the screen`, () => terminal.screen().match(text), 20_000).catch(
      (cause: unknown) => {
        throw new Error(`${text} never came. The screen:\n${terminal.screen()}`, { cause });
      },
    );
  const press = async (key: string): Promise<void> => {
    terminal.type("C-b", "T");
    // Keys in the same read are looked up before the key table changes.
    await eventually("the keys", () => t.tmux("list-clients", "-F", "#{client_key_table}") === "teams");
    terminal.type(key);
  };
  await teams(["create", "crew"]);
  const spawning = ["spawn", "dev", "--prompt", "begin", "--model", "scripted:play.json"];
  const spawned = await teams(spawning, { env: t.inside(pane) });
  expect([spawned.err, spawned.code]).toEqual(["", 0]);
  await eventually("the question", async () => (await teams(["approvals"])).out.includes("touch allowed"));

  await press("o");
  await shows(/dev +needs-input/);
  // The last row is the status line.
  await shows(/crew 1 needs-input · 1 waits\s*$/);
  terminal.type("C-c");
  // The command clears the screen too, before it redraws, so its end must be checked.
  const [watching] = /^\d+(?= status --watch)/m.exec(readFileSync(calls, "utf8")) ?? [];
  await eventually("its end", () => identityOf(Number(watching)) === undefined);
  await eventually("the popup's end", () => !terminal.screen().includes("MEMBER"));
  await press("a");
  const [, id = ""] = await shows(/(perm-\d+-\w+) +permission +dev/);
  terminal.type(`teams approve ${id}`, "Enter");
  await shows("Approved: permission of dev.");
  terminal.type("C-d");
  await eventually("the popup's end", () => !terminal.screen().includes("Approved"));
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
  await press("n");
  await shows("teams: no agent waits for you");
  const again = ["spawn", "ada", "--prompt", "begin", "--model", "scripted:play.json"];
  await teams(again, { env: t.inside(pane) });
  const waits = "#{m:needs-input,#{@teams_state}}";
  const ada = await eventually(
    "her question",
    () => t.tmux("list-panes", "-a", "-f", waits, "-F", "#{pane_id}") || undefined,
  );
  await press("n");
  await eventually("her pane", () => t.tmux("list-clients", "-F", "#{pane_id}") === ada);
  await teams(["kill", "crew", "--force", "--purge"]);
});
