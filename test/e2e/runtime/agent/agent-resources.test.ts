import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { callsOnce, startFakeMessagesApi, toolUse } from "../../../support/model/fake-messages-api.ts";
import { teamsIn } from "../../../support/processes/built-program.ts";
import { scriptFile } from "../../../support/processes/script-process.ts";
import { privateTmux } from "../../../support/tmux/private-tmux.ts";

const serverFile = scriptFile("mcp/server");

interface Result {
  readonly tool_use_id: string;
  readonly content: string | readonly { readonly text: string }[];
}

it("agent resources › loads the notes, skills and MCP servers of user and project, under the permission rules", async () => {
  const t = privateTmux();
  // The project is a sibling of the root, not its parent.
  const project = join(realpathSync(t.home), "project");
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  put(join(t.root, "CLAUDE.md"), "Always be brief.");
  put(join(project, "AGENTS.md"), "This project is a boat. @.env.prod");
  put(join(project, ".env.prod"), "the key of the boat");
  put(join(t.root, "skills", "mine", "SKILL.md"), "---\ndescription: How I sail.\n---\nHoist first.");
  put(join(t.root, "skills", "mine", "knots.md"), "Bowline.");
  put(join(t.home, "kept", "tack.md"), "---\nname: tack\n---\nThrough the wind.");
  mkdirSync(join(t.root, "skills", "linked"));
  symlinkSync(join(t.home, "kept", "tack.md"), join(t.root, "skills", "linked", "SKILL.md"));
  put(join(project, ".claude", "skills", "theirs", "SKILL.md"), "---\nname: dock\n---\nSlowly.");
  const server = { command: process.execPath, args: [serverFile()] };
  const permissions = { allow: ["mcp__boat__greet", "mcp__shore"], deny: ["mcp__boat__fail", "Read(.env*)"] };
  const mcpServers = {
    boat: server,
    shore__far: server,
    gone: { command: "/nowhere/at/all" },
    odd: { url: 7 },
  };
  put(join(t.root, "settings.json"), JSON.stringify({ permissions, mcpServers }));
  put(join(project, ".mcp.json"), JSON.stringify({ mcpServers: { shore: server } }));

  const uses = [
    toolUse("skill", "Skill", { skill: "mine" }),
    toolUse("beside", "Read", { file_path: join(t.root, "skills", "mine", "knots.md") }),
    toolUse("dock", "Skill", { skill: "dock" }),
    toolUse("tack", "Skill", { skill: "tack" }),
    toolUse("greet", "mcp__boat__greet", { name: "Ada" }),
    toolUse("shore", "mcp__shore__greet", { name: "Bob" }),
    toolUse("denied", "mcp__boat__fail", {}),
    toolUse("unruled", "mcp__boat__wait", {}),
    toolUse("far", "mcp__shore__far__greet", { name: "Eve" }),
    toolUse("none", "Skill", { skill: "../mine" }),
  ];
  const api = await startFakeMessagesApi(callsOnce(uses));
  onTestFinished(() => api.close());
  const env = { ...t.env, ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: "sk-test-000000000000" };
  const teams = teamsIn(env, project);
  await teams(["create", "crew"]);
  await teams(["trust"]);
  const words = ["--permission-mode", "dontAsk", "--teammate-mode", "process", "--prompt", "go", "--json"];
  expect((await teams(["spawn", "kim", ...words])).code).toBe(0);
  await api.received(2);

  const [first, second] = api.requests.map(({ body }) => body);
  const system = JSON.stringify(first.system);
  for (const text of ["Always be brief.", "This project is a boat.", "- mine: How I sail.", "- dock"])
    expect(system).toContain(text);
  for (const text of ["Hoist first.", "Slowly.", "the key"]) expect(system).not.toContain(text);
  const offered = (first.tools as { name: string }[]).map(({ name }) => name);
  expect(offered).toEqual(expect.arrayContaining(["Skill", "mcp__boat__greet", "mcp__shore__greet"]));
  expect(offered).not.toContain("mcp__boat__fail");
  const results = (second.messages.at(-1).content as Result[]).map(({ tool_use_id: id, content }) => [
    id,
    typeof content === "string" ? content : content.map(({ text }) => text).join(""),
  ]);
  expect(Object.fromEntries(results)).toEqual({
    skill: expect.stringContaining("Hoist first."),
    beside: expect.stringContaining("Bowline."),
    dock: expect.stringContaining("Slowly."),
    tack: expect.stringContaining("Through the wind."),
    greet: "Hello Ada.",
    shore: "Hello Bob.",
    denied: expect.stringContaining("The rule mcp__boat__fail denies it."),
    unruled: expect.stringContaining("No rule allows mcp__boat__wait."),
    far: expect.stringContaining("No rule allows mcp__shore__far__greet."),
    none: "Wrong input for Skill: skill: there is no skill of this name; available skills: dock, mine, tack",
  });
  const shown = (await teams(["peek", "kim", "-n", "200"])).out;
  expect(shown).toMatch(/AGENTS.md: a rule for Read denies\s+\S*\.env\.prod/);
  expect(shown).toMatch(/no tools from the MCP server gone: .*ENOENT/);
  expect(shown).toContain('MCP servers left out: the server "odd" in the settings is invalid');
  await teams(["kill", "crew", "--force"]);
});
