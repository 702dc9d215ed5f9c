import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { startFakeMessagesApi } from "../../support/model/fake-messages-api.ts";
import { doneIn, teamsIn } from "../../support/processes/built-program.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

const TYPE = `---
name: scout
description: Looks around
tools: Read, Glob
model: scripted:book.json
color: red
memory: user
---
You look around.
`;

interface Created {
  readonly type: string;
  readonly what: string;
  readonly agentId: string;
}

it("a new agent › has its source, tools, model, colour and memory in its event", async () => {
  const t = privateTmux();
  const done = doneIn(t.env, t.home);
  const agents = join(t.env.TEAMS_HOME ?? "", "agents");
  mkdirSync(agents, { recursive: true });
  writeFileSync(join(agents, "scout.md"), TYPE);
  writeFileSync(
    join(t.home, "book.json"),
    JSON.stringify({ version: 1, agents: { "*": [{ say: "Done.", repeat: true }] } }),
  );
  const run = await teamsIn(
    t.env,
    t.home,
  )(["run", "Go.", "-p", "--playbook", "book.json", "--team", "crew", "--keep"]);
  expect(run.code, run.err).toBe(0);
  const how = ["--teammate-mode", "process", "--team", "crew"];
  await done("spawn", "ada", "--agent-type", "scout", ...how);
  await done("spawn", "bob", "--system-prompt", "You are bob.", "--model", "scripted:book.json", ...how);
  const { events } = (await done("events", "--team", "crew", "--json")).json<{ events: Created[] }>();
  const created = events.filter(({ type, what }) => type === "agent" && what === "created");
  const none = { hasCustomColor: false, hasMemory: false };
  expect(created).toMatchObject([
    { agentId: "team-lead@crew", source: "built-in", toolCount: "all", ...none },
    {
      agentId: "ada@crew",
      source: "user",
      toolCount: 2,
      hasCustomModel: true,
      hasCustomColor: true,
      hasMemory: true,
      memoryScope: "user",
    },
    { agentId: "bob@crew", source: "flag", toolCount: "all", hasCustomModel: true, ...none },
  ]);
  expect(created[2]).not.toHaveProperty("memoryScope");
  await done("delete", "crew", "--force");
});

it.each([
  ["the default model", [], false],
  ["another model", ["--model", "opus"], true],
])("a new lead with %s › has its kind of model in its event", async (_, words, hasCustomModel) => {
  const t = privateTmux();
  const api = await startFakeMessagesApi([{ kind: "message", blocks: [{ type: "text", text: "Done." }] }]);
  onTestFinished(() => api.close());
  const env = { ...t.env, ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: "sk-test-000000000000" };
  const done = doneIn(env, t.home);
  const run = await teamsIn(env, t.home)(["run", "Go.", "-p", "--team", "crew", "--keep", ...words]);
  expect(run.code, run.err).toBe(0);
  const { events } = (await done("events", "crew", "--type", "agent", "--json")).json<{
    events: Created[];
  }>();
  expect(events.find(({ what }) => what === "created")).toMatchObject({ hasCustomModel });
  await done("delete", "crew", "--force");
});
