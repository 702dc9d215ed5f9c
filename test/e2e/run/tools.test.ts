import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { teamConfig } from "../../../src/schema/config.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { readTeam } from "../../../src/team/config/config.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { TEAMS, teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

it("run --disallowedTools --tools › limit the lead and the teammates that it starts", async () => {
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
  await eventually("the team's end", async () => (await teams(["kill", "crew", "--force"])).code === 0);
});

it("run --disallowedTools --tools › limit the teammates of teams spawn in the lead's shell, and the tool count in their events", async () => {
  const t = privateTmux();
  const spawn = (name: string, ...more: readonly string[]) => {
    const words = [process.execPath, TEAMS, "spawn", name, "--teammate-mode", "process", ...more];
    return { name: "Bash", input: { command: `${words.join(" ")} --json > ${name} 2>&1` } };
  };
  const tools = [
    spawn("bob", "--disallowed-tools", "Write"),
    spawn("cid", "--tools", "Bash"),
    spawn("dan", "--tools", "Bash,Write"),
  ];
  const ref = teamRef(teamsHome(t.env), "crew");
  // The run removes its teammates at its end.
  const keep = { name: "Bash", input: { command: `cp ${ref.paths.config} seen.json` } };
  const agents = { [LEAD_NAME]: [{ tools: [...tools, keep] }, { say: "Done." }], "*": [{ say: "Done." }] };
  writeFileSync(join(t.home, "book.json"), JSON.stringify({ version: 1, agents }));
  const teams = teamsIn(t.env, t.home);
  const how = ["--permission-mode", "bypassPermissions", "--teammate-mode", "process", "--json", "--keep"];
  const limits = ["--disallowed-tools", "WebFetch", "--tools", "Bash,Read"];
  const ended = await teams(["run", "Go.", "--playbook", "book.json", "--team", "crew", ...how, ...limits]);
  expect([ended.code, ended.err]).toEqual([0, ""]);
  const { members } = teamConfig.parse(JSON.parse(readFileSync(join(t.home, "seen.json"), "utf8")));
  const of = (name: string) => members.find((one) => one.name === name);
  expect(of("bob")).toMatchObject({
    disallowedTools: ["WebFetch", "Write"],
    metadata: { _tools: ["Bash", "Read"] },
  });
  expect(of("cid")).toMatchObject({ disallowedTools: ["WebFetch"], metadata: { _tools: ["Bash"] } });
  expect(of("dan")).toBeUndefined();
  expect(readFileSync(join(t.home, "dan"), "utf8")).toContain(
    "The lead's only tools are Bash, Read, so dan cannot have Write",
  );
  const { events } = (await teams(["events", "--team", "crew", "--json"])).json<{
    events: { what: string; type: string; agentId: string; toolCount: number | "all" }[];
  }>();
  const created = events.filter(({ type, what }) => type === "agent" && what === "created");
  expect(created.map(({ agentId, toolCount }) => [agentId, toolCount])).toEqual([
    ["team-lead@crew", 2],
    ["bob@crew", 2],
    ["cid@crew", 1],
  ]);
  await teams(["delete", "crew", "--force"]);
});

it("run --resume › keeps the limits of the lead's tools, unless it sets others", async () => {
  const t = privateTmux();
  const turns = ["first", "second", "third"].map((file) => ({
    on: { contains: file },
    tools: [{ name: "Bash", input: { command: `touch ${file}` } }],
  }));
  const agents = { [LEAD_NAME]: [...turns, { say: "Done.", repeat: true }] };
  writeFileSync(join(t.home, "book.json"), JSON.stringify({ version: 1, agents }));
  const how = ["--playbook", "book.json", "--team", "crew", "--teammate-mode", "process", "--json"];
  const teams = teamsIn(t.env, t.home);
  const bypass = ["--permission-mode", "bypassPermissions", "--keep"];
  const limited = ["--disallowedTools", "Bash", "--tools", "Bash,Read"];
  const ended = await teams(["run", "the first", ...how, ...bypass, ...limited]);
  expect([ended.code, ended.err]).toEqual([0, ""]);
  const ref = teamRef(teamsHome(t.env), "crew");
  const lead = () => readTeam(ref).members[0];
  expect(lead()).toMatchObject({ disallowedTools: ["Bash"], metadata: { _tools: ["Bash", "Read"] } });
  const resumed = await teams(["run", "the second", "--resume", "--keep", ...how]);
  expect([resumed.code, existsSync(join(t.home, "second"))]).toEqual([0, false]);
  const led = await teams(["run", "Again.", "--resume", "--team", "crew", "--cli", "codex", "--json"]);
  expect(led.error()).toMatchObject({
    message:
      "The tools of crew's lead are limited by --disallowed-tools Bash --tools Bash,Read, which codex cannot enforce; nothing was done.",
    hint: "Resume it without --cli.",
  });
  const other = ["--disallowedTools", "Write"];
  expect((await teams(["run", "the third", "--resume", ...how, ...other])).code).toBe(0);
  expect(existsSync(join(t.home, "third"))).toBe(true);
  await teams(["delete", "crew", "--force"]);
});

it("run --tools › is refused before anything starts for an invalid name, for no name at all, and with a CLI that leads", async () => {
  const t = privateTmux();
  const teams = teamsIn(t.env, t.home);
  await teams(["create", "crew"]);
  const wrong = await teams(["run", "Go.", "--model", "claude-x", "--tools", "Bash(ls)", "--json"]);
  expect([wrong.code, wrong.error().message]).toEqual([2, expect.stringContaining("not a tool's name")]);
  for (const words of [
    ["run", "Go.", "--model", "claude-x"],
    ["spawn", "ada"],
  ])
    for (const [option, value] of Object.entries({ "--tools": "names", "--allowed-tools": "rules" })) {
      const empty = await teams([...words, option, ",", "--json"]);
      expect([empty.code, empty.error().message]).toEqual([
        2,
        `${words[0]} accepts ${option} only with ${value}.`,
      ]);
    }
  const led = await teams(["run", "Go.", "--cli", "codex", "--allowed-tools", "Read", "--json"]);
  expect([led.code, led.error().message]).toEqual([
    2,
    "codex cannot lead with --allowed-tools; nothing was started.",
  ]);
});
