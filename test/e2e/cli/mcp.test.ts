import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTimeOf } from "../../../src/os/process/identity.ts";
import { leaves, nothing } from "../../support/assertions/leftovers.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { scriptFile } from "../../support/processes/script-process.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

const server = scriptFile("mcp/server");

/** Reports the tool's answer to the lead. */
const PLAYBOOK = {
  version: 1,
  agents: {
    "*": [
      { on: { contains: "greet" }, tools: [{ name: "mcp__own__greet", input: { name: "Ada" }, as: "said" }] },
      { tools: [{ name: "SendMessage", input: { recipient: "team-lead", content: "It says: {{said}}" } }] },
    ],
  },
};

/** Creates a project with MCP servers, and user settings with another server. */
async function world() {
  const t = privateTmux();
  const project = join(t.home, "project");
  mkdirSync(project);
  const entry = (name: string) => ({ command: process.execPath, args: [server(), join(t.home, name)] });
  writeFileSync(join(t.root, "settings.json"), JSON.stringify({ mcpServers: { own: entry("own") } }));
  const projectServers = { theirs: entry("theirs"), bad: { command: "/no/such/server" }, wrong: { url: 7 } };
  writeFileSync(join(project, ".mcp.json"), JSON.stringify({ mcpServers: projectServers }));
  writeFileSync(join(project, "play.json"), JSON.stringify(PLAYBOOK));
  const teams = teamsIn(t.env, project);
  expect((await teams(["create", "crew"])).code).toBe(0);
  const spawn = ["spawn", "ada", "--teammate-mode", "process", "--model", "scripted:play.json"];
  const lines = (name: string): readonly string[] =>
    readFileSync(join(t.home, name), "utf8").trim().split("\n");
  const hears = (text: string) =>
    eventually(text, async () => (await teams(["inbox", "--json"])).out.includes(text));
  const screen = async () => (await teams(["peek", "ada", "-n", "100"])).out;
  return { t, teams, spawn, lines, hears, screen };
}

it("MCP servers › run with their teammate from the settings, but not from an untrusted project (S70)", async () => {
  const { t, teams, spawn, lines, hears, screen } = await world();
  expect((await teams([...spawn, "--allowed-tools", "mcp__own", "--prompt", "greet"])).code).toBe(0);
  await hears("It says: Hello Ada.");
  expect(existsSync(join(t.home, "theirs"))).toBe(false);
  expect(await screen()).toMatch(/not trusted, so ignored: .*\.mcp\.json/);
  expect((await teams(["shutdown", "ada", "--timeout", "180"])).code).toBe(0);
  await eventually("the server's end", () => lines("own").some((line) => line.startsWith("ended")));
});

it("MCP servers › run from a trusted project, failures are named, and calls without a rule ask", async () => {
  const { teams, spawn, lines, screen } = await world();
  expect((await teams(["trust"])).code).toBe(0);
  expect((await teams([...spawn, "--prompt", "greet"])).code).toBe(0);
  const asked = await eventually("the request", async () => {
    const { approvals } = (await teams(["approvals", "--json"])).json<{ approvals: { summary: string }[] }>();
    return approvals[0];
  });
  expect(asked.summary).toContain("mcp__own__greet");
  expect(lines("theirs")[0]).toMatch(/^started /);
  const shown = await screen();
  expect(shown).toContain("no tools from the MCP server bad:");
  expect(shown).toMatch(/MCP servers left out: [\s\S]*"wrong"/);
  expect((await teams(["kill", "ada", "--force"])).code).toBe(0);
  const pid = Number(/^started (\d+)/.exec(lines("theirs")[0] ?? "")?.[1]);
  await eventually("the server's end", () => startTimeOf(pid) === undefined);
});

it("MCP servers › end with the lead's run, even if one ignores the end of its input", async () => {
  const { t, teams } = await world();
  expect((await teams(["delete", "crew"])).code).toBe(0);
  const log = join(t.home, "own");
  const stays = ["-c", '"$@"; exec sleep 600', "sh", process.execPath, server(), log];
  const settings = { mcpServers: { own: { command: "/bin/sh", args: stays } } };
  writeFileSync(join(t.root, "settings.json"), JSON.stringify(settings));
  const greets = { tools: [{ name: "mcp__own__greet", input: { name: "Ada" }, as: "said" }] };
  const agents = { "team-lead": [greets, { say: "It said: {{said}}" }] };
  writeFileSync(join(t.home, "lead.json"), JSON.stringify({ version: 1, agents }));
  const run = [
    "run",
    "--playbook",
    join(t.home, "lead.json"),
    "--permission-mode",
    "bypassPermissions",
    "--json",
  ];
  expect((await teams(run)).json()).toMatchObject({ result: "It said: Hello Ada." });
  await leaves(t, nothing());
});
