import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Model, ModelRequest } from "../../../src/agent/model/model.ts";
import { scriptedModel } from "../../../src/agent/model/scripted.ts";
import type { Turn } from "../../../src/schema/playbook.ts";
import { eventually } from "../../support/eventually.ts";
import { testTeam } from "../../support/team.ts";
import { startWorker } from "../../support/worker.ts";

const TURNS: readonly Turn[] = [
  {
    tools: [
      { name: "Write", input: { file_path: "{{plan_file}}", content: "# The plan" } },
      { name: "Write", input: { file_path: "else.md", content: "x" } },
    ],
  },
  { say: "planned" },
  { tools: [{ name: "Write", input: { file_path: "{{plan_file}}", content: "# Another" } }] },
  { say: "done" },
];

it("an agent that plans is told where its plan goes, and can write it there though its type writes nothing", async () => {
  const ref = await testTeam(["dev"]);
  const requests: ModelRequest[] = [];
  const playbook = { version: 1 as const, agents: { dev: [...TURNS] } };
  const scripted = scriptedModel({ playbook, agent: "dev", cwd: "/", env: {}, speed: 4 });
  const model: Model = {
    ...scripted,
    stream: (request, signal) => {
      requests.push(request);
      return scripted.stream(request, signal);
    },
  };
  const running = await startWorker(ref, { name: "dev", mode: "plan", model, agentType: "Plan" });
  const { plan } = running.worker;
  const namesAt = (at: number) => requests.at(at)?.tools.map(({ name }) => name) ?? [];
  const said = (text: string) =>
    eventually(text, () => running.messages.some((message) => JSON.stringify(message).includes(text)));
  await running.worker.typed("plan it");
  await said("planned");
  expect(namesAt(0)).toEqual(expect.arrayContaining(["Write", "ExitPlanMode", "Read"]));
  expect(requests[0]?.system).toContain(`write your plan into the one file ${plan.planFile}`);
  expect(readFileSync(plan.planFile, "utf8")).toBe("# The plan");
  expect(existsSync(join(running.cwd, "else.md"))).toBe(false);

  plan.setMode("bypassPermissions");
  await running.worker.typed("do it");
  await said("done");
  for (const gone of ["Write", "ExitPlanMode"]) expect(namesAt(-1)).not.toContain(gone);
  expect(requests.at(-1)?.system).not.toContain("plan mode");
  // Whoever calls it all the same, in a mode that asks for nothing, has it no more.
  expect(readFileSync(plan.planFile, "utf8")).toBe("# The plan");
  expect(running.shown).toContainEqual(expect.stringContaining("You have Write for your plan alone."));
  await running.stop();
});
