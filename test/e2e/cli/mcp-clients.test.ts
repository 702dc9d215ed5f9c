import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { openRequest, readAnswer } from "../../../src/team/requests/requests.ts";
import {
  type ForeignTeam,
  foreignTeam,
  httpClient,
  httpServer,
  PATIENT,
  type Person,
  stdioClient,
  tokenIn,
} from "../../support/mcp/member-server.ts";
import { eventually } from "../../support/timing/eventually.ts";

type Transport = "stdio" | "http";
type Era = "legacy" | "auto";
const WAYS: readonly (readonly [Transport, Era])[] = [
  ["stdio", "legacy"],
  ["stdio", "auto"],
  ["http", "legacy"],
  ["http", "auto"],
];

/** Connects the real client package as a member, over one of the transports. */
async function connect(
  team: ForeignTeam,
  as: string,
  [transport, era]: readonly [Transport, Era],
  person?: Person,
) {
  if (transport === "stdio") return stdioClient(team, ["--team", "crew", "--as", as], era, person);
  const { url, tokenFile } = await httpServer(team, as);
  return httpClient(url, tokenIn(tokenFile), era, person);
}

describe("teams mcp › clients", () => {
  it.each(WAYS)("every tool's result matches its schema (%s, %s)", async (...way) => {
    const team = await foreignTeam();
    const { client, call } = await connect(team, "team-lead", way);
    // The client package checks each result against the schemas that it has listed.
    const { tools } = await client.listTools(undefined, PATIENT);
    expect(tools.every(({ outputSchema }) => outputSchema !== undefined)).toBe(true);
    await sendMessage(team.ref, { from: "ada", to: "team-lead", text: "hi", summary: "s" });
    const calls: readonly (readonly [string, Record<string, unknown>?])[] = [
      ["SendMessage", { recipient: "ada", content: "hello" }],
      ["SendMessage", { type: "broadcast", content: "hello all" }],
      ["SendMessage", { type: "shutdown_request", recipient: "ada" }],
      ["TaskCreate", { subject: "a", metadata: { n: 1 } }],
      ["TaskGet", { taskId: "1" }],
      ["TaskClaim"],
      ["TaskUpdate", { taskId: "1", status: "completed" }],
      ["TaskUpdate", { taskId: "1", status: "deleted" }],
      ["TaskList"],
      ["AskUserQuestion", { question: "?" }],
      ["TeamStatus"],
      ["ListRequests"],
      ["Wait", { timeout_seconds: 0 }],
      ["ReadMessages"],
      ["ReadMessages", { recent: 5 }],
    ];
    for (const [name, input] of calls) {
      const { isError, data, text } = await call(name, input);
      expect([name, isError, typeof data], text).toEqual([name, false, "object"]);
    }
    expect((await call("AnswerRequest", { request_id: "x", approve: true })).isError).toBe(true);
    const teammate = await connect(team, "ada", way);
    await teammate.client.listTools(undefined, PATIENT);
    expect((await teammate.call("ReportIdle", { result: "done" })).isError).toBe(false);
  });

  it.each(WAYS)("resources are read, subscribed to and updated (%s, %s)", async (...way) => {
    const team = await foreignTeam();
    const { client } = await connect(team, "ada", way);
    const updated: string[] = [];
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
      updated.push(params.uri);
    });
    const { resources } = await client.listResources(undefined, PATIENT);
    const uris = resources.map(({ uri }) => uri);
    expect(uris).toEqual(["teams://crew/config", "teams://crew/tasks", "teams://crew/inbox"]);
    const [, tasks = "", inbox = ""] = uris;
    if (way[1] === "auto") {
      const listening = await client.listen({ resourceSubscriptions: [tasks, inbox] }, PATIENT);
      onTestFinished(() => listening.close());
    } else for (const uri of [tasks, inbox]) await client.subscribeResource({ uri }, PATIENT);
    await team.done("task", "add", "write docs");
    await eventually("the update of the tasks", () => updated.includes(tasks));
    const [contents] = (await client.readResource({ uri: tasks }, PATIENT)).contents as { text: string }[];
    expect(JSON.parse(contents?.text ?? "")).toMatchObject({ tasks: [{ subject: "write docs" }] });
    await sendMessage(team.ref, { from: "team-lead", to: "ada", text: "news" });
    await eventually("the update of the inbox", () => updated.includes(inbox));
    expect(new Set(updated)).toEqual(new Set([tasks, inbox]));
  });

  it.each(WAYS)("a person answers a permission in a form of the client (%s, %s)", async (...way) => {
    const team = await foreignTeam();
    const shown: string[] = [];
    const person: Person = async ({ message, requestedSchema }) => {
      shown.push(message);
      return "decision" in requestedSchema.properties
        ? { action: "accept", content: { decision: "approve", note: "go" } }
        : { action: "decline" };
    };
    const payload = { tool: "Bash", input: { command: "rm -rf \u202ebuild" } };
    const request = { kind: "permission" as const, from: "ada", summary: "Bash: rm", at: 1, payload };
    openRequest(team.ref, { ...request, id: "permission-1" });
    openRequest(team.ref, { ...request, id: "question-1", kind: "question", payload: { question: "Red?" } });
    const { call } = await connect(team, "team-lead", way, person);
    // The model itself cannot answer.
    const own = await call("AnswerRequest", { request_id: "permission-1", approve: true });
    expect(own.json).toMatchObject({ code: "PERMISSION_DENIED" });
    const declined = await call("AnswerRequest", { request_id: "question-1" });
    expect(declined.data).toMatchObject({ success: false });
    expect(readAnswer(team.ref, "question-1")).toBeUndefined();
    const answered = await call("AnswerRequest", { request_id: "permission-1" });
    expect(answered.data).toMatchObject({ success: true, approved: true, by: "person" });
    expect(readAnswer(team.ref, "permission-1")).toMatchObject({ approve: true, note: "go" });
    const text = shown.join("\n");
    expect(text).toContain("ada · permission");
    expect(text).toContain("rm -rf \\u202ebuild");
    expect(text).not.toContain("\u202e");
  });

  it.each(WAYS)("a Wait shows progress, and ends when a message arrives (%s, %s)", async (...way) => {
    const team = await foreignTeam();
    const { call } = await connect(team, "ada", way);
    let shown = 0;
    const onprogress = (): void => {
      shown += 1;
    };
    const waiting = call("Wait", { timeout_seconds: 300 }, { onprogress });
    await eventually("progress", () => shown > 0);
    await sendMessage(team.ref, { from: "team-lead", to: "ada", text: "news" });
    expect((await waiting).data).toEqual({ happened: ["message"], unread_messages: 1 });
  });

  it("a form is withdrawn when the request is answered elsewhere", async () => {
    const team = await foreignTeam();
    const payload = { tool: "Bash", input: { command: "make" } };
    const request = { kind: "permission" as const, from: "ada", summary: "Bash: make", at: 1, payload };
    openRequest(team.ref, { ...request, id: "permission-1" });
    let isShown = false;
    const person: Person = () => {
      isShown = true;
      return new Promise(() => undefined);
    };
    const { call } = await stdioClient(team, ["--as", "team-lead@crew"], "legacy", person);
    const asked = call("AnswerRequest", { request_id: "permission-1" });
    await eventually("the form", () => isShown);
    await team.done("reject", "permission-1");
    expect((await asked).json).toMatchObject({
      success: false,
      code: expect.stringMatching(/ANSWERED|NOT_FOUND/),
    });
    expect(readAnswer(team.ref, "permission-1")?.approve ?? false).toBe(false);
  });

  it("a client in an agent's shell does not count as a person", async () => {
    const team = await foreignTeam();
    const env = { ...team.env, TEAMS_AGENT: "team-lead@crew" };
    const payload = { tool: "Bash", input: { command: "make" } };
    const request = { kind: "permission" as const, from: "ada", summary: "Bash: make", at: 1, payload };
    openRequest(team.ref, { ...request, id: "permission-1" });
    const person: Person = async () => ({ action: "accept", content: { decision: "approve" } });
    const { call } = await stdioClient({ ...team, env }, [], "auto", person);
    const asked = await call("AnswerRequest", { request_id: "permission-1" });
    expect(asked.json).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(readAnswer(team.ref, "permission-1")).toBeUndefined();
  });
});

/** Sends a complete answer in one request of the newer protocol, as a program without a person could. */
const ANSWERS_ALONE = `
const [url, token, id] = process.argv.slice(1);
const prefix = "io.modelcontextprotocol/";
const body = {
  jsonrpc: "2.0", id: 1, method: "tools/call",
  params: {
    name: "AnswerRequest", arguments: { request_id: id },
    inputResponses: { request: { action: "accept", content: { decision: "approve" } } },
    _meta: {
      [prefix + "protocolVersion"]: "2026-07-28",
      [prefix + "clientInfo"]: { name: "x", version: "1" },
      [prefix + "clientCapabilities"]: { elicitation: {} },
    },
  },
};
const headers = {
  authorization: "Bearer " + token, "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "AnswerRequest",
};
fetch(url, { method: "POST", headers, body: JSON.stringify(body) })
  .then((answer) => answer.text())
  .then((text) => process.stdout.write(text));
`;

it("teams mcp › a program that has the token does not count as a person in an agent's shell", async () => {
  const team = await foreignTeam();
  const payload = { tool: "Bash", input: { command: "make" } };
  const request = { kind: "permission" as const, from: "ada", summary: "Bash: make", at: 1, payload };
  for (const id of ["permission-1", "permission-2"]) openRequest(team.ref, { ...request, id });
  const { url, tokenFile } = await httpServer(team, "team-lead");
  const answer = (id: string, env: Readonly<Record<string, string>>) =>
    promisify(execFile)(process.execPath, ["-e", ANSWERS_ALONE, url, tokenIn(tokenFile), id], {
      env: { PATH: process.env.PATH, ...env },
    });
  const refused = await answer("permission-1", { TEAMS_AGENT: "ada@crew" });
  expect(refused.stdout).toContain("No person is known to have started your client");
  expect(refused.stdout).toContain("Ask the user to answer in the agent's pane");
  expect(readAnswer(team.ref, "permission-1")).toBeUndefined();
  const accepted = await answer("permission-2", {});
  expect(accepted.stdout).toContain("The person has approved");
});

/** Claims and completes free tasks until all are completed, as a client's model does. @returns the ids of its tasks */
async function finishAll(call: Awaited<ReturnType<typeof stdioClient>>["call"]): Promise<readonly string[]> {
  const done: string[] = [];
  for (;;) {
    const { data } = await call("Wait", { for: ["free_task", "all_tasks_done"], timeout_seconds: 30 });
    const happened = (data?.happened ?? []) as readonly string[];
    if (happened.includes("all_tasks_done")) return done;
    if (!happened.includes("free_task")) continue;
    const claimed = await call("TaskClaim");
    // Another member was faster.
    if (claimed.isError) continue;
    const { id } = (claimed.data?.task ?? {}) as { id: string };
    await call("TaskUpdate", { taskId: id, status: "completed" });
    done.push(id);
  }
}

it("teams mcp › two clients and one of teams' own agents finish one task list", async () => {
  const team = await foreignTeam(["ada", "bob"]);
  const lead = await stdioClient(team, ["--as", "team-lead@crew"]);
  await lead.client.listTools(undefined, PATIENT);
  const { url, tokenFile } = await httpServer(team, "bob");
  const ada = await stdioClient(team);
  const bob = await httpClient(url, tokenIn(tokenFile), "legacy");
  for (const { client } of [ada, bob]) await client.listTools(undefined, PATIENT);
  const claims = [
    { tools: [{ name: "TaskUpdate", input: { taskId: "1", owner: "cid", status: "in_progress" } }] },
    { tools: [{ name: "TaskUpdate", input: { taskId: "1", status: "completed" } }] },
    { tools: [{ name: "SendMessage", input: { recipient: "team-lead", content: "first done" } }] },
    { say: "done" },
  ];
  writeFileSync(
    join(team.directory, "play.json"),
    JSON.stringify({ version: 1, agents: { "*": [claims].flat() } }),
  );
  writeFileSync(join(team.env.TEAMS_HOME, "settings.json"), JSON.stringify({ teammateMode: "process" }));
  // All tasks depend on the first one, which teams' own agent completes.
  for (let at = 1; at <= 7; at += 1) {
    await lead.call("TaskCreate", { subject: `task ${at}` });
    if (at > 1) await lead.call("TaskUpdate", { taskId: String(at), addBlockedBy: ["1"] });
  }
  await lead.call("TaskUpdate", { taskId: "7", addBlockedBy: ["2", "3"] });
  onTestFinished(async () => void (await team.teams(["kill", "cid", "--force"])));
  const spawned = await lead.call("Agent", {
    name: "cid",
    prompt: "Do task 1.",
    model: "scripted:play.json",
  });
  expect(spawned).toMatchObject({ isError: false, data: { status: "teammate_spawned", name: "cid" } });
  // The clients start afterwards: any member may claim a free task.
  await eventually("the owner of the first task", async () => {
    const { task } = (await lead.call("TaskGet", { taskId: "1" })).data as { task: { owner?: string } };
    return task.owner === "cid";
  });
  const workers = [finishAll(ada.call), finishAll(bob.call)];
  const [byAda = [], byBob = []] = await Promise.all(workers);
  expect([...byAda, ...byBob].sort()).toEqual(["2", "3", "4", "5", "6", "7"]);
  const { tasks } = (await lead.call("TaskList")).data as { tasks: { owner: string; status: string }[] };
  expect(new Set(tasks.map(({ status }) => status))).toEqual(new Set(["completed"]));
  expect(tasks[0]?.owner).toBe("cid");
  const uri = "teams://crew/agents/cid/conversation";
  const listed = await lead.client.listResources(undefined, PATIENT);
  expect(listed.resources.map((one) => one.uri)).toContain(uri);
  const [conversation] = (await lead.client.readResource({ uri }, PATIENT)).contents as { text: string }[];
  expect(conversation?.text).toContain("Do task 1.");
  await eventually("cid's message", async () => {
    await lead.call("Wait", { for: ["message"], timeout_seconds: 30 });
    return (await lead.call("ReadMessages")).text.includes("first done");
  });
});

it("teams mcp › a lead shuts a client down, and deletes the team", async () => {
  const team = await foreignTeam(["ada", "bob"]);
  const lead = await stdioClient(team, ["--as", "team-lead@crew"]);
  const ada = await stdioClient(team);
  await lead.call("TaskCreate", { subject: "write docs" });
  await ada.call("TaskClaim");
  await ada.call("SendMessage", { recipient: "team-lead", content: "I have begun." });
  expect((await lead.call("TeamDelete")).json).toMatchObject({ code: "ACTIVE_MEMBERS" });
  const asked = await lead.call("SendMessage", { type: "shutdown_request", recipient: "ada" });
  await ada.call("ReadMessages");
  const answer = { type: "shutdown_response", request_id: asked.data?.request_id, approve: true };
  expect((await ada.call("SendMessage", answer)).isError).toBe(false);
  await eventually("ada's end", async () => {
    const { data } = await lead.call("TeamStatus");
    const { members } = (data ?? {}) as { members: { name: string }[] };
    return !members.some(({ name }) => name === "ada");
  });
  expect((await ada.call("TaskList")).json).toMatchObject({ code: "AGENT_NOT_FOUND" });
  const { tasks } = (await lead.call("TaskList")).data as { tasks: { owner: string | null }[] };
  expect(tasks).toMatchObject([{ owner: null, status: "pending" }]);
  expect((await lead.call("ReadMessages")).text).toContain("ada agreed to shut down and has left the team");
  expect((await lead.call("TeamDelete")).data).toMatchObject({ success: true });
  expect((await lead.call("TaskList")).json).toMatchObject({ code: "TEAM_NOT_FOUND" });
});
