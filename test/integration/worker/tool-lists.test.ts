import { describe, expect, it } from "vitest";
import type { Model, ModelRequest } from "../../../src/agent/model/model.ts";
import { scriptedModel } from "../../../src/agent/playbook/scripted-model.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import type { PlaybookTurn } from "../../../src/schema/playbook.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import { testTeam } from "../../support/team/test-team.ts";
import { eventually } from "../../support/timing/eventually.ts";
import type { WorkerInput } from "../../support/worker/start-worker.ts";
import { workerOfTest } from "../../support/worker/test-worker.ts";

const CALL: PlaybookTurn = { tools: [{ name: "Bash", input: { command: "true" } }] };

/** Returns the tools offered to an agent's model with their schemas, its prompt, and the result of a tool call. */
async function offered(input: WorkerInput, call: PlaybookTurn = CALL) {
  const { name = "dev" } = input;
  const ref = await testTeam(["dev"]);
  let request: ModelRequest | undefined;
  const playbook = { version: 1 as const, agents: { [name]: [call] } };
  const scripted = scriptedModel({ playbook, agent: name, cwd: "/", env: {} });
  const model: Model = {
    name: scripted.name,
    stream: (next, signal) => {
      request = next;
      return scripted.stream(next, signal);
    },
  };
  const dev = await workerOfTest(ref, { ...input, model });
  await sendMessage(ref, { from: name === "dev" ? LEAD_NAME : "dev", to: name, text: "begin" });
  await eventually("the end", () => dev.inputs.length > 0 && readStatus(ref, name)?.state === "idle");
  const tools = request?.tools ?? [];
  return {
    names: tools.map((tool) => tool.name),
    tools,
    system: request?.system ?? "",
    called: dev.shown.find((line) => line.startsWith("ended")) ?? "",
  };
}

describe("offered tools", () => {
  it("are the tools of the agent type and the team tools", async () => {
    const { names } = await offered({});
    expect(names).toEqual(expect.arrayContaining(["Read", "Write", "Bash", "SendMessage", "TaskUpdate"]));
  });

  it("are the tools of an allow list and the team tools", async () => {
    const { names, called } = await offered({ tools: ["Read", "Grep"] });
    expect(names).toEqual(expect.arrayContaining(["Read", "Grep", "SendMessage"]));
    expect(names).not.toContain("Bash");
    expect(called).toContain("There is no tool Bash here");
  });

  const none = "There is no tool Bash here";
  it.each<[string, WorkerInput, string]>([
    ["a deny list names", { disallowedTools: ["Bash", "SendMessage"] }, none],
    [
      "the settings deny as a whole",
      { settings: { permissions: { deny: ["Ba*", "SendMessage(*)"] } } },
      "The rule Ba* denies it.",
    ],
    ["both lists name", { tools: ["Read", "Bash"], disallowedTools: ["Bash", "SendMessage"] }, none],
  ])("exclude the tools that %s", async (_, input, answer) => {
    const { names, called } = await offered({ mode: "bypassPermissions", ...input });
    expect(names).toContain("Read");
    for (const name of ["Bash", "SendMessage"]) expect(names).not.toContain(name);
    expect(called).toContain(answer);
  });

  it("include a tool that a rule denies in part, which refuses the denied calls", async () => {
    const { names, called } = await offered({ mode: "bypassPermissions", disallowedTools: ["Bash(true)"] });
    expect(names).toContain("Bash");
    expect(called).toContain("The rule Bash(true) denies it");
  });

  const SPAWN: PlaybookTurn = {
    tools: [{ name: "Agent", input: { name: "kim", prompt: "Look around." } }],
  };

  it.each(["0", "false"])(
    "exclude a lead's team tools if the user turns agent teams off (%s)",
    async (value) => {
      const env = { CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: value };
      const lead = await offered({ name: LEAD_NAME, role: "lead", env }, SPAWN);
      expect(lead.names).toEqual(expect.arrayContaining(["Read", "Bash", "TaskCreate", "Agent"]));
      for (const name of ["SendMessage", "TeamCreate", "TeamDelete"]) expect(lead.names).not.toContain(name);
      const agent = lead.tools.find(({ name }) => name === "Agent");
      expect(Object.keys(agent?.inputSchema.properties ?? {})).not.toContain("name");
      expect(lead.system).not.toMatch(/teammate|You lead/);
      expect(lead.called).toContain("The user has turned agent teams off; nothing was started.");
    },
  );

  it("include a lead's team tools by default, and a teammate's even if the user turns agent teams off", async () => {
    const lead = await offered({ name: LEAD_NAME, role: "lead" });
    expect(lead.names).toEqual(expect.arrayContaining(["SendMessage", "TeamCreate", "TeamDelete", "Agent"]));
    const dev = await offered({ env: { CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: "0" } });
    expect(dev.names).toContain("SendMessage");
  });
});
