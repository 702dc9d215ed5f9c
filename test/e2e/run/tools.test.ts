import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { readTeam } from "../../../src/team/config/config.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

it("run --disallowedTools --tools › hold for the lead and for the teammates that it starts", async () => {
  const t = privateTmux();
  const bash = (command: string) => ({ name: "Bash", input: { command } });
  const agents = {
    [LEAD_NAME]: [
      { tools: [bash("touch by-lead"), { name: "Write", input: { file_path: "written", content: "x" } }] },
      { tools: [{ name: "Agent", input: { name: "ann", prompt: "Go.", description: "works" } }] },
      { on: { contains: "ann is idle" }, tools: [bash("touch by-lead")] },
      { say: "Done." },
    ],
    ann: [{ tools: [bash("touch by-ann")] }, { say: "I tried." }],
  };
  writeFileSync(join(t.home, "book.json"), JSON.stringify({ version: 1, agents }));
  const teams = teamsIn(t.env, t.home);
  const words = ["run", "Go.", "--playbook", "book.json", "--team", "crew", "--keep"];
  const how = ["--permission-mode", "bypassPermissions", "--teammate-mode", "process", "--json"];
  const ended = await teams([...words, ...how, "--disallowedTools", "Bash", "--tools", "Bash,Read"]);
  expect([ended.code, ended.err]).toEqual([0, ""]);
  for (const file of ["by-lead", "written", "by-ann"])
    expect(existsSync(join(t.home, file)), file).toBe(false);
  const { members, former = [] } = readTeam(teamRef(teamsHome(t.env), "crew"));
  expect([...members, ...former].map(({ name }) => name)).toContain("ann");
  await eventually("her end", async () => (await teams(["kill", "crew", "--force"])).code === 0);
});

it("run --tools › is refused before anything starts for what is no name, and with a CLI that leads", async () => {
  const t = privateTmux();
  const teams = teamsIn(t.env, t.home);
  const wrong = await teams(["run", "Go.", "--model", "claude-x", "--tools", "Bash(ls)", "--json"]);
  expect([wrong.code, wrong.error().message]).toEqual([2, expect.stringContaining("not a tool's name")]);
  const led = await teams(["run", "Go.", "--cli", "codex", "--allowed-tools", "Read", "--json"]);
  expect([led.code, led.error().message]).toEqual([
    2,
    "codex cannot lead with --allowed-tools; nothing was started.",
  ]);
});
