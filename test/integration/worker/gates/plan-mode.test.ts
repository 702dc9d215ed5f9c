import { existsSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Model, ModelRequest } from "../../../../src/agent/model/model.ts";
import { scriptedModel } from "../../../../src/agent/playbook/scripted-model.ts";
import type { AgentType } from "../../../../src/agent/prompts/agent-types.ts";
import type { PlaybookTurn } from "../../../../src/schema/playbook.ts";
import { readStatus } from "../../../../src/team/records/read-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { startWorker, type WorkerInput } from "../../../support/worker/start-worker.ts";
import { workerOfTest } from "../../../support/worker/test-worker.ts";

const TURNS: readonly PlaybookTurn[] = [
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

it("plan mode › names the plan file and allows writing it, even for a read-only agent type", async () => {
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
  const { planApproval: plan } = running.worker;
  const namesAt = (at: number) => requests.at(at)?.tools.map(({ name }) => name) ?? [];
  const said = (text: string) =>
    eventually(text, () => running.messages.some((message) => JSON.stringify(message).includes(text)));
  await running.worker.handleTypedLine("plan it");
  await said("planned");
  expect(namesAt(0)).toEqual(expect.arrayContaining(["Write", "ExitPlanMode", "Read"]));
  expect(requests[0]?.system).toContain(
    `write your plan to ${plan.planFile}; you cannot write any other file, and commands may only read.`,
  );
  expect(readFileSync(plan.planFile, "utf8")).toBe("# The plan");
  expect(existsSync(join(running.cwd, "else.md"))).toBe(false);

  plan.setMode("bypassPermissions");
  await running.worker.handleTypedLine("do it");
  await said("done");
  for (const gone of ["Write", "ExitPlanMode"]) expect(namesAt(-1)).not.toContain(gone);
  expect(requests.at(-1)?.system).not.toContain("plan mode");
  // A later call is refused, even in a mode that asks for nothing.
  expect(readFileSync(plan.planFile, "utf8")).toBe("# The plan");
  expect(running.shown).toContainEqual(expect.stringContaining("You may use Write only for your plan;"));
  await running.stop();
});

/** Starts a teammate in plan mode; `offered` contains the tool names of each model request. */
async function planner(input: WorkerInput) {
  const ref = await testTeam(["dev"]);
  const offered: string[][] = [];
  const playbook = { version: 1 as const, agents: { dev: [...(input.turns ?? [])] } };
  const scripted = scriptedModel({ playbook, agent: "dev", cwd: "/", env: {}, speed: 4 });
  const model: Model = {
    ...scripted,
    stream: (request, signal) => {
      offered.push(request.tools.map(({ name }) => name));
      return scripted.stream(request, signal);
    },
  };
  const dev = await workerOfTest(ref, { mode: "plan", ...input, model });
  const turn = async (line: string, end: string): Promise<void> => {
    await dev.worker.handleTypedLine(line);
    await eventually(end, () => dev.messages.some((message) => JSON.stringify(message).includes(end)));
  };
  return { ref, dev, offered, turn };
}

it("plan mode › offers read and search tools to an agent type without them, until the plan ends", async () => {
  const look = { tools: [{ name: "Glob", input: { pattern: "*.md" } }] };
  const turns = [look, { say: "planned" }, look, { say: "done" }];
  const { dev, offered, turn } = await planner({ agentType: "Bash", turns });
  writeFileSync(join(dev.cwd, "there.md"), "x");
  await turn("plan it", "planned");
  expect(offered[0]).toEqual(expect.arrayContaining(["Read", "Glob", "Grep", "Write"]));
  expect(dev.shown).toContainEqual(expect.stringMatching(/^ended Glob: .*there\.md/));
  dev.worker.planApproval.setMode("bypassPermissions");
  await turn("do it", "done");
  for (const gone of ["Read", "Glob", "Grep", "Write"]) expect(offered.at(-1)).not.toContain(gone);
  expect(dev.shown).toContainEqual("ended Glob: You may use Glob only for planning; this call was not made.");
});

it("plan mode › offers no tools beyond the member's tool lists", async () => {
  const { offered, turn } = await planner({
    agentType: "Bash",
    tools: ["Bash", "Read"],
    disallowedTools: ["Write"],
    turns: [{ say: "planned" }],
  });
  await turn("plan it", "planned");
  expect(offered[0]).toContain("Read");
  for (const name of ["Glob", "Grep", "Write"]) expect(offered[0]).not.toContain(name);
});

it("plan mode › lets an agent that may write only its notes write its plan, and afterwards only its notes", async () => {
  const write = (file_path: string) => ({ name: "Write", input: { file_path, content: "# Words" } });
  const scribe: AgentType = {
    name: "scribe",
    description: "",
    prompt: "",
    tools: ["Read"],
    memory: "project",
  };
  const notes = ".claude/agent-memory/scribe/MEMORY.md";
  const { dev, offered, turn } = await planner({
    agentType: "scribe",
    types: [scribe],
    turns: [
      { tools: [write("{{plan_file}}"), write(notes)] },
      { say: "planned" },
      { tools: [write("{{plan_file}}"), write(notes), write("else.md")] },
      { say: "done" },
    ],
  });
  const { planApproval: plan } = dev.worker;
  await turn("plan it", "planned");
  expect(offered[0]?.filter((name) => name === "Write")).toHaveLength(1);
  expect(readFileSync(plan.planFile, "utf8")).toBe("# Words");
  expect(existsSync(join(dev.cwd, notes))).toBe(false);
  writeFileSync(plan.planFile, "approved");
  plan.setMode("bypassPermissions");
  await turn("do it", "done");
  expect(readFileSync(plan.planFile, "utf8")).toBe("approved");
  expect(readFileSync(join(dev.cwd, notes), "utf8")).toBe("# Words");
  expect(existsSync(join(dev.cwd, "else.md"))).toBe(false);
  expect(dev.shown.filter((line) => line.includes("You may use Write only for your notes"))).toHaveLength(2);
});

it("plan mode › ends with an approval even if it cannot be recorded", async () => {
  const plan = { tools: [{ name: "ExitPlanMode", input: { plan: "# Steps" } }] };
  const { ref, dev } = await planner({ modeAfterPlan: "acceptEdits", turns: [plan, { say: "done" }] });
  await dev.worker.handleTypedLine("plan it");
  await eventually("the wait", () => readStatus(ref, "dev")?.state === "awaiting-approval");
  const { planApproval } = dev.worker;
  const requestId = planApproval.request ?? "";
  const { requests } = ref.paths;
  // A loop of links: the requests cannot be read.
  renameSync(requests, `${requests}-kept`);
  symlinkSync(requests, requests);
  const verdict = { type: "plan_approval_response", requestId, approved: true } as const;
  const none = { feedback: undefined, permissionMode: undefined };
  expect(await planApproval.handleVerdict({ ...verdict, ...none }, "k1")).toBe(true);
  unlinkSync(requests);
  renameSync(`${requests}-kept`, requests);
  expect([planApproval.isWaiting, planApproval.mode]).toEqual([false, "acceptEdits"]);
  expect(dev.shown).toContainEqual(expect.stringMatching(/^error: ELOOP/));
});
