import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { doneIn, TEAMS } from "../../support/processes/built-program.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";
import { personInside } from "../../support/tmux/terminal-user.ts";

const PLAYBOOK = { version: 1, agents: { "*": [{ say: "I heard {{input}}", repeat: true }] } };
const SPAWN = ["--model", "scripted:play.json", "--team", "crew"];

it("spawn › opens its window in the session of a popup, even if the server inherited TMUX_PANE", async () => {
  const t = privateTmux({ env: { TMUX_PANE: "%0" } });
  t.session("other");
  t.session("mine");
  writeFileSync(join(t.home, "play.json"), JSON.stringify(PLAYBOOK));
  await doneIn(t.env, t.home)("create", "crew");
  await t.attach("=mine:");
  const client = t.tmux("list-clients", "-F", "#{client_name}");
  const command = [process.execPath, TEAMS, "spawn", "ada", ...SPAWN].map((word) => `'${word}'`).join(" ");
  t.tmux("display-popup", "-c", client, "-t", "=mine:", "-d", t.home, "-E", command);
  const windows = t.tmux("list-windows", "-a", "-F", "#{session_name} #{window_panes}");
  expect(windows).toBe("mine 1\nmine 1\nother 1");
});

it("spawn --here › splits the pane that it runs in, even if the server inherited the same TMUX_PANE", async () => {
  const t = privateTmux({ env: { TMUX_PANE: "%0" } });
  writeFileSync(join(t.home, "play.json"), JSON.stringify(PLAYBOOK));
  await doneIn(t.env, t.home)("create", "crew");
  const person = personInside(t, ["spawn", "ada", "--here", ...SPAWN]);
  expect(person.pane).toBe("%0");
  expect(await person.code()).toBe(0);
  expect(t.tmux("list-windows", "-a", "-F", "#{session_name} #{window_panes}")).toBe("work 2");
});
