import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { writeStatus } from "../../../src/team/records/write-records.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { openRequest, readAnswer } from "../../../src/team/requests/requests.ts";
import { claimTask } from "../../../src/team/tasks/claim-task.ts";
import { addTask } from "../../../src/team/tasks/update-task.ts";
import { keepShown } from "../../../src/team-tools/mcp/list-requests.ts";
import {
  AS_ADA,
  AS_LEAD,
  callTools,
  crew,
  exchange,
  initialize,
  requestOf,
} from "../../support/mcp/exchange.ts";
import { cliIn } from "../../support/processes/in-process-cli.ts";
import { deadProcess, statusOf } from "../../support/team/status-records.ts";

interface ListedTool {
  readonly name: string;
  readonly title?: string;
  readonly inputSchema: { readonly type: string };
  readonly outputSchema?: { readonly type: string };
  readonly annotations: Record<string, boolean | string>;
}

async function listTools(words: readonly string[]): Promise<readonly ListedTool[]> {
  const { reply } = await exchange(
    await crew(),
    [initialize("2025-11-25"), requestOf(1, "tools/list")],
    words,
  );
  return ((reply(1)?.result ?? {}) as { tools: ListedTool[] }).tools;
}

describe("teams mcp › tools", () => {
  it("have the names of the team tools; only a lead gets the lead's tools", async () => {
    const forAll = [
      ...["SendMessage", "TaskCreate", "TaskGet", "TaskUpdate", "TaskList", "AskUserQuestion"],
      ...["TaskClaim", "TeamStatus", "Wait", "ReadMessages"],
    ];
    const names = (tools: readonly ListedTool[]) => tools.map(({ name }) => name);
    expect(names(await listTools(AS_ADA))).toEqual([...forAll, "ReportIdle"]);
    const forLead = ["Agent", "ListRequests", "AnswerRequest", "TeamCreate", "TeamDelete"];
    expect(names(await listTools(AS_LEAD))).toEqual([...forAll, ...forLead]);
  });

  it("say what they return, and what a call may do", async () => {
    const tools = [...(await listTools(AS_LEAD)), ...(await listTools(AS_ADA))];
    for (const { name, title, inputSchema, outputSchema, annotations } of tools) {
      expect([name, inputSchema.type, outputSchema?.type]).toEqual([name, "object", "object"]);
      expect(title).toBe(annotations.title);
      const hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
      for (const hint of hints) expect(typeof annotations[hint]).toBe("boolean");
    }
    const having = (hint: string) => [
      ...new Set(tools.filter(({ annotations }) => annotations[hint]).map(({ name }) => name)),
    ];
    expect(having("readOnlyHint")).toEqual(["TaskGet", "TaskList", "TeamStatus", "Wait", "ListRequests"]);
    expect(having("destructiveHint")).toEqual(["TaskUpdate", "TeamDelete"]);
    expect(having("openWorldHint")).toEqual(["Agent"]);
    expect(tools.find(({ name }) => name === "Wait")?.inputSchema).toMatchObject({
      properties: { timeout_seconds: { default: 30, maximum: 300 } },
    });
  });

  it("return their data in addition to the text", async () => {
    const answers = await callTools(await crew(), [
      ["TaskCreate", { subject: "write docs" }],
      ["TaskList"],
      ["AskUserQuestion", { question: "Red or blue?" }],
    ]);
    for (const { text, data } of answers.slice(0, 2)) expect(JSON.parse(text)).toEqual(data);
    expect(answers[1]?.data).toMatchObject({ tasks: [{ id: "1", subject: "write docs", owner: null }] });
    expect(answers[2]?.text).toContain("Your question is waiting");
    expect(answers[2]?.data).toEqual({ request_id: expect.stringContaining("question-") });
  });

  it("return every time in ISO 8601", async () => {
    const cli = await crew();
    const ref = teamRef(teamsHome(cli.env), "crew");
    const [at, time] = [Date.UTC(2026, 10, 23, 22, 25), "2026-11-23T22:25:00.000Z"];
    const asked = { id: "ask-1", kind: "question" as const, from: "ada", summary: "Which port?", at };
    openRequest(ref, { ...asked, payload: { question: "Which port?", default: "80", deadline: at } });
    await cli(["task", "add", "Check", "--verify", "true", "--team", "crew"]);
    expect((await cli(["task", "done", "1", "--team", "crew"])).code).toBe(0);
    const [listed, one, task] = await callTools(cli, [
      ["ListRequests"],
      ["ListRequests", { request_id: "ask-1" }],
      ["TaskGet", { taskId: "1" }],
    ]);
    const request = { id: "ask-1", at: time, deadline: time };
    expect([listed?.data, one?.data]).toMatchObject([{ requests: [request] }, { request }]);
    expect(task?.data).toMatchObject({
      task: { verifyRun: { outcome: "passed", at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) } },
    });
  });

  it("name each wrong or unknown field of an input", async () => {
    const wrong = await callTools(await crew(), [
      ["TaskCreate", { subject: 7, metadata: "x" }],
      ["SendMessage", { type: "no such type", recipient: "ada" }],
      ["SendMessage", { content: "to whom?" }],
      ["Wait", { timeout_seconds: 301 }],
      ["Wait", { for: ["message", "rain"] }],
      ["TaskUpdate", { taskId: "1", addBlocks: [{ deep: [] }] }],
      ["TaskCreate", {}],
    ]);
    expect(wrong.every(({ isError, data }) => isError && data === undefined)).toBe(true);
    const texts = wrong.map(({ text }) => text);
    expect(texts[0]).toMatch(/subject: .*string.*metadata: /);
    expect(texts[1]).toContain("type: ");
    expect(texts[2]).toContain("needs recipient");
    expect(texts[3]).toContain("timeout_seconds: ");
    expect(texts[4]).toContain("for[1]: ");
    expect(texts[5]).toContain("addBlocks[0]: ");
    expect(texts[6]).toContain("subject: ");
    const [known] = await callTools(await crew(), [["TaskCreate", { subject: "a", colour: "red" }]]);
    expect(known).toMatchObject({
      isError: false,
      text: expect.stringContaining("Ignored fields that the tool does not have: colour."),
    });
  });

  it("shorten an answer that is too long, and keep it valid", async () => {
    const cli = await crew();
    const { paths } = teamRef(teamsHome(cli.env), "crew");
    mkdirSync(paths.tasks, { recursive: true });
    const subject = "s".repeat(1_000);
    for (let id = 1; id <= 400; id += 1) {
      const task = { id: String(id), subject, description: "", status: "pending", blocks: [], blockedBy: [] };
      writeFileSync(
        paths.task(String(id)),
        JSON.stringify(id === 400 ? { ...task, description: "\\".repeat(400_000) } : task),
      );
    }
    const [list, one] = await callTools(cli, [["TaskList"], ["TaskGet", { taskId: "400" }]]);
    for (const answer of [list, one]) {
      expect(answer?.isError).toBe(false);
      expect(answer?.text.length).toBeLessThan(150_100);
    }
    const { tasks } = (list?.data ?? {}) as { tasks: { subject: string }[] };
    expect([tasks.length, tasks[0]?.subject]).toEqual([400, expect.stringContaining("ask for less")]);
    expect(one?.data).toMatchObject({ task: { id: "400" } });
  });
});

describe("teams mcp › a lead's team", () => {
  const AS_NEW_LEAD = ["mcp", "--team", "boat", "--as", "team-lead"];

  it("is created and deleted by its model", async () => {
    const cli = cliIn();
    const answers = await callTools(
      cli,
      [
        ["TaskList"],
        ["TeamDelete"],
        ["TeamCreate", { team_name: "The\u001b[31m boat", description: "to sail" }],
        ["TeamCreate", { team_name: "another" }],
        ["TaskCreate", { subject: "hoist" }],
        ["TeamDelete"],
        ["TaskList"],
        ["TeamCreate", { team_name: "boat" }],
        ["TaskList"],
      ],
      AS_NEW_LEAD,
    );
    expect(answers.map(({ isError }) => isError)).toEqual([
      true,
      false,
      false,
      true,
      false,
      false,
      true,
      false,
      false,
    ]);
    expect(answers[0]?.text).toContain("TEAM_NOT_FOUND");
    expect(answers[2]?.data).toMatchObject({ team_name: "boat", display_name: "The boat" });
    expect(answers[3]?.text).toContain("ALREADY_LEADING");
    expect(answers[8]?.data).toEqual({ tasks: [] });
    const list = await exchange(
      cliIn(),
      [initialize("2025-11-25"), requestOf(1, "resources/list")],
      AS_NEW_LEAD,
    );
    expect(list.reply(1)?.result).toEqual({ resources: [] });
    expect((await cli(["status", "--json"])).json<{ team: string }>().team).toBe("boat");
  });

  it("cannot be created by a teammate, over HTTP, or in the shell of an agent", async () => {
    const cli = cliIn();
    const start = async (words: readonly string[], env = {}) =>
      (await cli([...words, "--json"], { env })).error().code;
    expect(await start(["mcp", "--team", "boat", "--as", "ada"])).toBe("TEAM_NOT_FOUND");
    expect(await start([...AS_NEW_LEAD, "--http", "0"])).toBe("TEAM_NOT_FOUND");
    expect(await start(AS_NEW_LEAD, { TEAMS_AGENT: "team-lead@boat" })).toBe("TEAM_NOT_FOUND");
  });

  it("is not deleted if another program has created it", async () => {
    const cli = await crew();
    const { paths } = teamRef(teamsHome(cli.env), "crew");
    const members = [{ name: "team-lead", agentId: "team-lead@crew" }];
    writeFileSync(
      paths.config,
      JSON.stringify({ name: "crew", createdAt: 1, leadAgentId: "team-lead@crew", members }),
    );
    const [answer] = await callTools(cli, [["TeamDelete"]]);
    expect(answer).toMatchObject({ isError: true, text: expect.stringContaining("PERMISSION_DENIED") });
  });
});

describe("teams mcp › Wait", () => {
  it("ends for a lead once for each request that it has not seen", async () => {
    const cli = await crew();
    const ref = teamRef(teamsHome(cli.env), "crew");
    const plan = { id: "plan-1", kind: "plan" as const, from: "ada", summary: "a plan", at: 1 };
    openRequest(ref, { ...plan, payload: { planContent: "Do it." } });
    const quick = { timeout_seconds: 0 };
    const [first, second, third] = await callTools(cli, [
      ["Wait", { timeout_seconds: 300 }],
      ["Wait", quick],
      ["Wait", { ...quick, for: ["request"] }],
    ]);
    expect(first?.data).toEqual({ happened: ["request"], unread_messages: 0, requests: ["plan-1"] });
    expect(second?.data).toEqual({ happened: [], unread_messages: 0 });
    expect(third?.data).toMatchObject({ happened: [] });
    const [listed, waited] = await callTools(cli, [["ListRequests"], ["Wait", quick]]);
    expect(listed?.data).toMatchObject({ requests: [{ id: "plan-1", kind: "plan" }] });
    expect(waited?.data).toMatchObject({ happened: [] });
    for (const shows of [["TeamStatus"], ["ListRequests", { request_id: "plan-1" }]] as const) {
      const [, quiet] = await callTools(cli, [shows, ["Wait", quick]]);
      expect(quiet?.data).toMatchObject({ happened: [] });
    }
  });

  it("forgets a request that was answered", () => {
    const known = new Set(["plan-1", "plan-2"]);
    keepShown(known, [{ id: "plan-2" }, { id: "plan-3" }]);
    expect([...known]).toEqual(["plan-2", "plan-3"]);
  });

  it("ends for a lead when a teammate has crashed, even if no process of teams watches the team", async () => {
    const cli = await crew();
    const ref = teamRef(teamsHome(cli.env), "crew");
    writeStatus(ref, "ada", statusOf({ process: deadProcess(), state: "running" }));
    const [waited] = await callTools(cli, [["Wait", { timeout_seconds: 0, for: ["message"] }]]);
    expect(waited?.data).toMatchObject({ happened: ["message"] });
    const [read] = await callTools(cli, [["ReadMessages"]]);
    expect(read?.text).toContain("ada crashed");
  });

  it("names unreadable tasks, and does not call a task free that waits for one of them", async () => {
    const cli = await crew();
    const { paths } = teamRef(teamsHome(cli.env), "crew");
    const quick = { timeout_seconds: 0, for: ["free_task", "all_tasks_done"] };
    await callTools(cli, [
      ["TaskCreate", { subject: "first" }],
      ["TaskCreate", { subject: "second" }],
      ["TaskUpdate", { taskId: "2", addBlockedBy: ["1"] }],
    ]);
    writeFileSync(paths.task("1"), "{");
    const [blocked] = await callTools(cli, [["Wait", quick]]);
    expect(blocked?.data).toMatchObject({ happened: [], broken: ["1"] });
    rmSync(paths.task("2"));
    const [done] = await callTools(cli, [["Wait", quick]]);
    expect(done?.data).toMatchObject({ happened: ["all_tasks_done"], broken: ["1"] });
  });

  it("reports a free task exactly when TaskClaim can claim one", async () => {
    const cli = await crew();
    const ref = teamRef(teamsHome(cli.env), "crew");
    const quick = { timeout_seconds: 0, for: ["free_task"] };
    const touches = ["src/**"];
    await addTask(ref, LEAD_NAME, { subject: "running", touches });
    await claimTask(ref, LEAD_NAME, "1");
    await addTask(ref, LEAD_NAME, { subject: "the same files", touches });
    const [waited, refused] = await callTools(cli, [["Wait", quick], ["TaskClaim"]]);
    expect(waited?.data).toMatchObject({ happened: [] });
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining("No task is free") });
    await addTask(ref, LEAD_NAME, { subject: "of ada", owner: "ada" });
    const [own, claimed] = await callTools(cli, [["Wait", quick], ["TaskClaim"]], AS_ADA);
    expect(own?.data).toMatchObject({ happened: ["free_task"] });
    expect(claimed?.data).toMatchObject({ task: { id: "3", owner: "ada" } });
  });
});

describe("teams mcp › AnswerRequest", () => {
  it("refuses to ask a person if the client has no forms", async () => {
    const cli = await crew();
    const ref = teamRef(teamsHome(cli.env), "crew");
    const plan = { id: "plan-1", kind: "plan" as const, from: "ada", summary: "a plan", at: 1 };
    openRequest(ref, { ...plan, payload: { planContent: "Do it." } });
    const [asked] = await callTools(cli, [["AnswerRequest", { request_id: "plan-1" }]]);
    expect(asked).toMatchObject({ isError: true, text: expect.stringContaining("cannot show a form") });
    expect(asked?.text).toContain("Ask the person to answer in the agent's pane");
    const [unknown] = await callTools(cli, [
      ["AnswerRequest", { request_id: "../../config", approve: true }],
    ]);
    expect(unknown).toMatchObject({ isError: true, text: expect.stringContaining("REQUEST_NOT_FOUND") });
  });

  it("takes no mode in which the teammate could not carry out its plan", async () => {
    const cli = await crew();
    const ref = teamRef(teamsHome(cli.env), "crew");
    const plan = { id: "plan-1", kind: "plan" as const, from: "ada", summary: "a plan", at: 1 };
    openRequest(ref, { ...plan, payload: { planContent: "Do it." } });
    for (const mode of ["plan", "delegate"]) {
      const given = { request_id: "plan-1", approve: true, mode };
      const [refused] = await callTools(cli, [["AnswerRequest", given]]);
      expect(refused).toMatchObject({ isError: true, text: expect.stringContaining("mode") });
      expect(readAnswer(ref, "plan-1")).toBeUndefined();
    }
  });
});

it("teams mcp › does not start with broken settings, and names their file", async () => {
  const cli = await crew();
  writeFileSync(join(cli.root, "settings.json"), "{");
  const { code, err } = await cli(AS_LEAD);
  expect([code, err]).toEqual([expect.any(Number), expect.stringContaining("settings.json")]);
  expect(code).not.toBe(0);
});
