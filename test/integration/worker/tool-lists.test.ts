import { describe, expect, it } from "vitest";
import type { Model } from "../../../src/agent/model/model.ts";
import { scriptedModel } from "../../../src/agent/playbook/scripted-model.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import type { PlaybookTurn } from "../../../src/schema/playbook.ts";
import { deliver } from "../../../src/team/mailbox/send.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import { eventually } from "../../support/eventually.ts";
import { testTeam } from "../../support/team.ts";
import type { WorkerInput } from "../../support/worker.ts";
import { workerOfTest } from "../../support/worker-of-test.ts";

const CALL: PlaybookTurn = { tools: [{ name: "Bash", input: { command: "true" } }] };

/** What the model of a teammate may use, and what came of a call of Bash. */
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
  await deliver(ref, { from: LEAD_NAME, to: "dev", text: "begin" });
  await eventually("the end", () => dev.inputs.length > 0 && readStatus(ref, "dev")?.state === "idle");
  return { names, called: dev.shown.find((line) => line.startsWith("ended Bash")) ?? "" };
}

describe("the tools of an agent", () => {
  it("are those of its type, and the team's", async () => {
    const { names } = await offered({});
    expect(names).toEqual(expect.arrayContaining(["Read", "Write", "Bash", "SendMessage", "TaskUpdate"]));
  });

  it("are of a whitelist no others, but the team's stay", async () => {
    const { names, called } = await offered({ tools: ["Read", "Grep"] });
    expect(names).toEqual(expect.arrayContaining(["Read", "Grep", "SendMessage"]));
    expect(names).not.toContain("Bash");
    expect(called).toContain("There is no tool Bash here");
  });

  const none = "There is no tool Bash here";
  it.each<[string, WorkerInput, string]>([
    ["a blacklist names", { disallowedTools: ["Bash", "SendMessage"] }, none],
    [
      "the settings deny as a whole",
      { settings: { permissions: { deny: ["Ba*", "SendMessage(*)"] } } },
      "The rule Ba* denies it.",
    ],
    ["a whitelist names too", { tools: ["Read", "Bash"], disallowedTools: ["Bash", "SendMessage"] }, none],
  ])("are none that %s", async (_, input, answer) => {
    const { names, called } = await offered({ mode: "bypassPermissions", ...input });
    expect(names).toContain("Read");
    for (const name of ["Bash", "SendMessage"]) expect(names).not.toContain(name);
    expect(called).toContain(answer);
  });

  it("that a rule denies only in part are there, and refuse that part", async () => {
    const { names, called } = await offered({ mode: "bypassPermissions", disallowedTools: ["Bash(true)"] });
    expect(names).toContain("Bash");
    expect(called).toContain("The rule Bash(true) denies it");
  });
});
