import { describe, expect, it } from "vitest";
import type { Model } from "../../../src/agent/model/model.ts";
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

/** Returns the tools offered to a teammate's model, and the result of a Bash call. */
async function offered(input: WorkerInput) {
  const ref = await testTeam(["dev"]);
  const names: string[] = [];
  const playbook = { version: 1 as const, agents: { dev: [CALL] } };
  const scripted = scriptedModel({ playbook, agent: "dev", cwd: "/", env: {} });
  const model: Model = {
    name: scripted.name,
    stream: (request, signal) => {
      names.splice(0, names.length, ...request.tools.map(({ name }) => name));
      return scripted.stream(request, signal);
    },
  };
  const dev = await workerOfTest(ref, { ...input, model });
  await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "begin" });
  await eventually("the end", () => dev.inputs.length > 0 && readStatus(ref, "dev")?.state === "idle");
  return { names, called: dev.shown.find((line) => line.startsWith("ended Bash")) ?? "" };
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
});
