import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Model, ModelRequest } from "../../../src/agent/model/model.ts";
import { scriptedModel } from "../../../src/agent/playbook/scripted-model.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import type { PermissionMode } from "../../../src/schema/permission-modes.ts";
import type { PlaybookTurn } from "../../../src/schema/playbook.ts";
import { readTeam } from "../../../src/team/config/config.ts";
import { addMembers } from "../../../src/team/members/members.ts";
import { setMode } from "../../../src/team/members/permission-mode.ts";
import { testTeam } from "../../support/team/test-team.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { startWorker } from "../../support/worker/start-worker.ts";

/** Starts a lead in this mode that plays these turns; `requests` contains its model requests. */
async function leadOf(
  mode: PermissionMode,
  turns: readonly PlaybookTurn[],
  { members = [], alone = false }: { readonly members?: readonly string[]; readonly alone?: boolean } = {},
) {
  const ref = await testTeam(members);
  await setMode(ref, LEAD_NAME, "acceptEdits");
  await setMode(ref, LEAD_NAME, mode);
  const requests: ModelRequest[] = [];
  const playbook = { version: 1 as const, agents: { [LEAD_NAME]: [...turns] } };
  const scripted = scriptedModel({ playbook, agent: LEAD_NAME, cwd: "/", env: {}, speed: 4 });
  const model: Model = {
    ...scripted,
    stream: (request, signal) => {
      requests.push(request);
      return scripted.stream(request, signal);
    },
  };
  const running = await startWorker(ref, { name: LEAD_NAME, role: "lead", mode, model, alone });
  const said = (text: string) =>
    eventually(text, () => running.messages.some((m) => JSON.stringify(m).includes(text)));
  return { ref, running, requests, said };
}

const toolNames = ({ tools }: ModelRequest): string[] => tools.map(({ name }) => name).sort();

it("lead in delegate mode › is offered team tools only, and its prompt says where the tasks are (S53)", async () => {
  const { ref, running, requests, said } = await leadOf("delegate", [{ say: "one" }, { say: "two" }], {
    members: ["ada"],
  });
  await running.worker.handleTypedLine("go");
  await said("one");
  const first = requests[0] as ModelRequest;
  expect(toolNames(first)).toEqual(
    "Agent AskUserQuestion SendMessage TaskCreate TaskGet TaskList TaskUpdate TeamCreate TeamDelete".split(
      " ",
    ),
  );
  expect(first.system).toContain("# You only coordinate");
  expect(first.system).toContain(`the files are in ${ref.paths.tasks}`);
  for (const word of ["do the work yourself", "search and read", "Grep", "Bash"])
    expect(first.system).not.toContain(word);
  running.worker.planApproval.setMode("acceptEdits");
  await running.worker.handleTypedLine("go on");
  await said("two");
  expect(toolNames(requests[1] as ModelRequest)).toEqual(expect.arrayContaining(["Agent", "Bash", "Write"]));
  expect(requests[1]?.system).not.toContain("You only coordinate");
  expect(requests[1]?.system).toContain("decide what you do yourself and what a teammate does");
  await running.stop();
});

it("lead in delegate mode › cannot write files or start subagents, and gets the reason (S53)", async () => {
  const turn: PlaybookTurn = {
    tools: [
      { name: "Write", input: { file_path: "x.md", content: "x" } },
      { name: "Agent", input: { prompt: "Write x.md", description: "writes" } },
    ],
  };
  const { running, said } = await leadOf("delegate", [turn, { say: "done" }]);
  await running.worker.handleTypedLine("go");
  await said("done");
  const seen = running.shown.filter((shown) => shown.startsWith("ended "));
  expect(seen).toEqual([
    expect.stringContaining("the lead only coordinates. Give this work to a teammate"),
    expect.stringContaining("the lead only coordinates; nothing was started"),
  ]);
  expect(existsSync(join(running.cwd, "x.md"))).toBe(false);
  await running.stop();
});

it("lead › learns of a new teammate with its next turn, while its cached system prompt stays the same", async () => {
  const { ref, running, requests, said } = await leadOf("default", [{ say: "one" }, { say: "two" }], {
    members: ["ada"],
  });
  await running.worker.handleTypedLine("go");
  await said("one");
  await addMembers(ref, [{ name: "ben", cwd: "/" }]);
  await running.worker.handleTypedLine("go on");
  await said("two");
  expect(requests[1]?.system).toBe(requests[0]?.system);
  expect(requests[0]?.system).toContain("Your teammates now: ada.");
  expect(JSON.stringify(requests[1]?.messages.at(-1))).toContain(
    "[The team has changed: ben joined. Other members now: ada, ben.]",
  );
  await running.stop();
});

it("lead › finds its existing teammates in the system prompt of a new session (S49)", async () => {
  const { ref, running, requests, said } = await leadOf("default", [{ say: "one" }], {
    members: ["ada", "bob"],
  });
  await running.worker.handleTypedLine("go");
  await said("one");
  expect(requests[0]?.system).toContain("Your teammates now: ada, bob.");
  expect(readTeam(ref).members.map(({ name }) => name)).toEqual([LEAD_NAME, "ada", "bob"]);
  await running.stop();
});

it("lead without a user › is not offered AskUserQuestion, and its prompt says when the run ends", async () => {
  const systems = async (alone: boolean): Promise<readonly [string, readonly string[]]> => {
    const { running, requests, said } = await leadOf("default", [{ say: "one" }], { alone });
    await running.worker.handleTypedLine("go");
    await said("one");
    await running.stop();
    return [requests[0]?.system ?? "", toolNames(requests[0] as ModelRequest)];
  };
  const [alone, asked] = [await systems(true), await systems(false)];
  expect(alone[1]).not.toContain("AskUserQuestion");
  expect(alone[0]).not.toMatch(/AskUserQuestion|Ask, or/);
  expect(alone[0]).toMatch(/questions get no answer.*call TeamDelete\./s);
  expect(asked[1]).toContain("AskUserQuestion");
  expect(asked[0]).toContain("To ask the person something before that, use AskUserQuestion.");
  for (const [system] of [alone, asked])
    expect(system).toContain(
      "The run ends with the first turn in which you call no tool while no teammate works",
    );
});

it("lead in plan mode › has a prompt that says it can only read and search", async () => {
  const { running, requests, said } = await leadOf("plan", [{ say: "one" }]);
  await running.worker.handleTypedLine("go");
  await said("one");
  expect(requests[0]?.system).toContain(
    "# You are in plan mode\n\nYou can read and search, but you cannot write files, and commands may only read.",
  );
  await running.stop();
});
