import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { leaves, nothing } from "../../support/assertions/leftovers.ts";
import { doneIn, teamsIn } from "../../support/processes/built-program.ts";
import { transcriptTexts } from "../../support/team/transcript-texts.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

const PLAYBOOK = { version: 1, agents: { "*": [{ say: "I heard {{input}}", repeat: true }] } };
const RUNS = "#(touch pwned)";
const TEAM = `Crew ${RUNS} #[fg=red]`;
const HOSTILE = [RUNS, "#{pane_id}", "#[fg=red]x"];
const NAMES = [".dots.", "a:b", "a b", "100%", "k=v", "-rf", `it's "q"`, "検査", "🦊", ...HOSTILE];

it("twelve odd and hostile names › work in panes, messages, attach, hide, show and kill (S8, S30, S74)", async () => {
  const t = privateTmux();
  const { pane: user } = t.session("work", { width: 80, height: 24 });
  const person = await t.attach("=work:", { width: 80, height: 24 });
  const hostile = join(t.home, RUNS);
  mkdirSync(hostile);
  const playbook = join(t.home, "play.json");
  writeFileSync(playbook, JSON.stringify(PLAYBOOK));
  const teams = doneIn(t.inside(user), hostile);
  await teams("create", TEAM);
  const spawn = ["spawn", "--model", `scripted:${playbook}`, "--json", "--"];
  const spawned = await Promise.all(NAMES.map((name) => teams(...spawn, name)));
  const panes = spawned.map((one) => one.json<{ name: string; paneId: string; cwd: string }>());
  expect(panes.map(({ name, cwd }) => [name, cwd])).toEqual(NAMES.map((name) => [name, hostile]));
  const paneOf = (name: string) => panes.find((one) => one.name === name)?.paneId ?? "";
  const show = (name: string, format: string) => t.tmux("display-message", "-p", "-t", paneOf(name), format);
  for (const name of NAMES) {
    const [inWindow, width, height] = show(name, "#{window_panes} #{pane_width} #{pane_height}")
      .split(" ")
      .map(Number);
    expect([name, inWindow, Number(width) >= 40, Number(height) >= 10]).toEqual([name, 2, true, true]);
  }

  const ref = teamRef(teamsHome(t.env), TEAM);
  const outside = teamsIn(t.env, hostile);
  await Promise.all(NAMES.map((name) => teams("send", "--", name, `to ${name} ${RUNS}`)));
  for (const name of NAMES) {
    await eventually(`${name}'s answer`, () =>
      transcriptTexts(ref, name).includes(`I heard to ${name} ${RUNS}`),
    );
  }
  const attached = await Promise.all(NAMES.map((name) => outside(["attach", "--json", "--", name])));
  const targets = attached.map((one) => one.json<{ command: string[] }>().command.at(-1));
  expect(targets).toEqual(NAMES.map((name) => expect.stringMatching(new RegExp(`\\.${paneOf(name)}$`))));
  for (const name of HOSTILE) {
    expect((await teams("attach", "--json", "--", name)).json()).toMatchObject({ switched: true });
    expect(t.tmux("list-clients", "-F", "#{pane_id}")).toBe(paneOf(name));
    // The border of the pane shows the member's name, and the status line the team's.
    await eventually(`${name} on the screen`, () => person.screen().includes(` ${name} idle`));
    expect(person.screen().split("\n").at(-1)).toContain(TEAM);
  }

  const again = await teamsIn(t.inside(user), hostile)([...spawn, "a:b"]);
  expect(again.error().code).toBe("DUPLICATE_NAME");
  await teams("hide", "--", RUNS);
  t.tmux("select-window", "-t", paneOf(RUNS));
  await eventually("the window", () => person.screen().split("\n").at(-1)?.includes(`${RUNS}*`));
  expect(show(RUNS, "#{window_panes}")).toBe("1");
  await teams("show", "--", RUNS);
  await teams("kill", "--force", "--", "-rf");
  const left = (await teams("status", "--json")).json<{ members: { name: string }[] }>().members;
  const others = NAMES.filter((name) => name !== "-rf");
  expect(left.map(({ name }) => name).sort()).toEqual(["team-lead", ...others].sort());
  await teams("kill", "--force", "--", TEAM);
  await teams("delete", "--", TEAM);
  await leaves(t, nothing(["work:cat"]));
  expect(readdirSync(t.home, { recursive: true }).filter((path) => /pwned$/.test(String(path)))).toEqual([]);
});
