import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { signalProcess } from "../../../src/os/process/process-table.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { doneIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

const PLAYBOOK = { version: 1, agents: { "*": [{ say: "I heard {{input}}", repeat: true }] } };

it.each([
  ["shutdown", ["shutdown", "ada", "bob", "--timeout", "180"]],
  ["kill", ["kill", "crew", "--force"]],
])("a team's session › returns its viewers to their previous session on %s", async (_how, ending) => {
  const t = privateTmux();
  const { pane } = t.session("mine");
  t.session("other");
  await t.attach("=mine:");
  const client = t.tmux("list-clients", "-F", "#{client_name}");
  writeFileSync(join(t.home, "play.json"), JSON.stringify(PLAYBOOK));
  const teams = doneIn(t.inside(pane), t.home);
  await teams("create", "crew");
  const spawn = ["--session", "--model", "scripted:play.json"];
  await Promise.all(["ada", "bob"].map((name) => teams("spawn", name, ...spawn)));
  t.tmux("switch-client", "-c", client, "-t", "=teams-crew:");
  await teams(...ending);
  await eventually("the end of the session", () => !t.tmux("list-sessions").includes("teams-crew"));
  expect(t.tmux("list-clients", "-F", "#{client_name} #{client_session}")).toBe(`${client} mine`);
});

it("a team's session › returns its viewers when they close the pane of a crashed teammate", async () => {
  const t = privateTmux();
  const { pane } = t.session("mine");
  t.session("other");
  await t.attach("=mine:");
  const client = t.tmux("list-clients", "-F", "#{client_name}");
  writeFileSync(join(t.home, "play.json"), JSON.stringify(PLAYBOOK));
  const teams = doneIn(t.inside(pane), t.home);
  await teams("create", "crew");
  await teams("spawn", "ada", "--session", "--model", "scripted:play.json");
  t.tmux("switch-client", "-c", client, "-t", "=teams-crew:");
  const ref = teamRef(teamsHome(t.env), "crew");
  signalProcess(readStatus(ref, "ada")?.process.pid ?? 0, "SIGKILL");
  const shown = () => t.tmux("capture-pane", "-p", "-t", "=teams-crew:");
  await eventually("the key hint", () => shown().includes("q + Enter closes this pane"));
  t.tmux("send-keys", "-t", "=teams-crew:", "q", "Enter");
  await eventually("the end of the session", () => !t.tmux("list-sessions").includes("teams-crew"));
  expect(t.tmux("list-clients", "-F", "#{client_name} #{client_session}")).toBe(`${client} mine`);
});
