import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import {
  foreignTeam,
  httpClient,
  httpServer,
  PATIENT,
  stdioClient,
} from "../../support/mcp/member-server.ts";
import { statusOfUnfinished } from "../../support/mcp/unfinished-request.ts";
import { eventually } from "../../support/timing/eventually.ts";

interface Message {
  readonly id: string;
  readonly text: string;
  readonly again?: true;
}

const TEAMMATE_TOOLS = [
  "SendMessage",
  "TaskCreate",
  "TaskGet",
  "TaskUpdate",
  "TaskList",
  "AskUserQuestion",
  "TaskClaim",
  "TeamStatus",
  "Wait",
  "ReadMessages",
  "ReportIdle",
];

describe("teams mcp on standard streams", () => {
  it.each(["legacy", "auto"] as const)("gives a teammate the team tools (%s client)", async (mode) => {
    const team = await foreignTeam();
    const { client, call } = await stdioClient(team, undefined, mode);
    expect(client.getNegotiatedProtocolVersion()).toBe(mode === "auto" ? "2026-07-28" : "2025-11-25");
    expect(client.getInstructions()).toContain("You are ada, a teammate in the agent team crew");
    const { tools } = await client.listTools(undefined, PATIENT);
    expect(tools.map(({ name }) => name)).toEqual(TEAMMATE_TOOLS);
    await team.done("task", "add", "write docs");
    expect((await call("TaskClaim")).json).toMatchObject({ task: { id: "1", owner: "ada" } });
    expect((await call("TaskUpdate", { taskId: "1", status: "completed" })).isError).toBe(false);
    expect((await call("TaskCreate", { subject: "check them" })).json).toMatchObject({ task: { id: "2" } });
    expect((await call("SendMessage", { recipient: "team-lead", content: "done" })).isError).toBe(false);
    expect((await call("ReportIdle", { result: "All written." })).isError).toBe(false);
    const { messages } = (await team.done("inbox", "--json")).json<{ messages: Record<string, string>[] }>();
    expect(JSON.parse(messages.at(-1)?.text ?? "")).toMatchObject({
      type: "idle_notification",
      from: "ada",
      idleReason: "available",
      result: "All written.",
      completedTaskId: "1",
    });
    const { tasks } = (await team.done("task", "list", "--json")).json<{ tasks: object[] }>();
    expect(tasks).toMatchObject([{ status: "completed", owner: "ada" }, { subject: "check them" }]);
  });

  it("gives only the lead the lead's tools, and never gives the lead's model the user's rights", async () => {
    const team = await foreignTeam();
    const teammate = await stdioClient(team);
    expect(
      (await teammate.call("SendMessage", { type: "shutdown_request", recipient: "ada" })).json,
    ).toMatchObject({
      code: "NOT_LEAD",
    });
    await expect(teammate.call("Agent", { name: "bob", prompt: "work" })).rejects.toThrow("no tool");
    await teammate.call("AskUserQuestion", { question: "Red or blue?" });
    const lead = await stdioClient(team, ["--as", "team-lead@crew"]);
    const { requests } = (await lead.call("ListRequests")).json as { requests: { id: string }[] };
    expect(requests).toMatchObject([{ kind: "question", from: "ada" }]);
    const answer = { request_id: requests[0]?.id, approve: true, note: "red" };
    expect((await lead.call("AnswerRequest", answer)).json).toMatchObject({ code: "PERMISSION_DENIED" });
    const shutdown = { type: "shutdown_request", recipient: "ada", content: "enough" };
    const { request_id } = (await lead.call("SendMessage", shutdown)).json;
    const [asked] = (await teammate.call("ReadMessages")).json.messages as Message[];
    expect(asked?.text).toContain(`Shutdown request ${request_id}: enough`);
    const agreed = { type: "shutdown_response", request_id, approve: true };
    expect((await teammate.call("SendMessage", agreed)).isError).toBe(false);
    expect((await teammate.call("SendMessage", agreed)).json).toMatchObject({ code: "REQUEST_NOT_FOUND" });
    const { text } = ((await lead.call("ReadMessages")).json.messages as Message[]).at(-1) ?? { text: "" };
    expect(text).toContain(`ada agrees to shut down (${request_id})`);
  });

  it("starts a teammate for the lead in the lead's directory, with no more rights than the lead's", async () => {
    const team = await foreignTeam();
    const says = [{ tools: [{ name: "SendMessage", input: { recipient: "team-lead", content: "here" } }] }];
    const playbook = { version: 1, agents: { "*": says } };
    writeFileSync(join(team.directory, "play.json"), JSON.stringify(playbook));
    const teams = { adapters: { shell: { channel: "acp", command: "/bin/sh" } } };
    writeFileSync(
      join(team.env.TEAMS_HOME, "settings.json"),
      JSON.stringify({ teammateMode: "process", teams }),
    );
    const lead = await stdioClient({ ...team, directory: temporaryDirectory() }, ["--as", "team-lead@crew"]);
    const bob = { name: "bob", prompt: "Say hello.", model: "scripted:play.json" };
    const denied = await lead.call("Agent", { ...bob, mode: "bypassPermissions" });
    expect(denied.json).toMatchObject({ code: "PERMISSION_DENIED" });
    const outside = await lead.call("Agent", { name: "bob", prompt: "x", cli: "shell" });
    expect(outside.json).toMatchObject({
      code: "PERMISSION_DENIED",
      message: expect.stringContaining("No rule lets a model start shell"),
    });
    onTestFinished(async () => void (await team.teams(["kill", "bob", "--force"])));
    const spawned = await lead.call("Agent", bob);
    expect(spawned).toMatchObject({ isError: false, json: { status: "teammate_spawned", name: "bob" } });
    await eventually("the message", async () =>
      ((await lead.call("Wait", { timeout_seconds: 50 })).json.happened as string[]).includes("message"),
    );
    const [message] = (await lead.call("ReadMessages")).json.messages as Message[];
    expect(message).toMatchObject({ from: "bob", text: "here" });
    const { members } = (await lead.call("TeamStatus")).json as { members: Record<string, unknown>[] };
    expect(members.find(({ name }) => name === "bob")).toMatchObject({ cwd: team.directory });
  });

  it("refuses a teammate's CLI in an unsupported version, and adds no member", async () => {
    const team = await foreignTeam();
    const command = join(team.directory, "old-cli");
    const begun = join(team.directory, "begun");
    const script = `#!/bin/sh\n[ "$1" = --version ] && exec echo old 2.0.1\n: >${begun}\n`;
    writeFileSync(command, script, { mode: 0o755 });
    const unsupported = { versions: ">=2", why: "It speaks another interface." };
    const old = { channel: "acp", command, tested: ["1.0.0"], unsupported };
    const settings = { permissions: { allow: ["Agent(cli:old)"] }, teams: { adapters: { old } } };
    const place = join(team.env.TEAMS_HOME, "settings.json");
    writeFileSync(place, JSON.stringify({ teammateMode: "process", ...settings }));
    const lead = await stdioClient(team, ["--as", "team-lead@crew"]);
    const refused = await lead.call("Agent", { name: "bob", prompt: "x", cli: "old" });
    expect(refused).toMatchObject({ isError: true, json: { code: "SPAWN_FAILED" } });
    expect(refused.text).toContain("old 2.0.1 was not started: It speaks another interface.");
    const { members } = (await lead.call("TeamStatus")).json as { members: { name: string }[] };
    expect(members.map(({ name }) => name)).not.toContain("bob");
    expect(existsSync(begun)).toBe(false);
  });

  it("returns each message once, and again with the same id if the server was killed first", async () => {
    const team = await foreignTeam();
    const first = await stdioClient(team);
    await sendMessage(team.ref, { from: "team-lead", to: "ada", text: "one" });
    const [one] = (await first.call("ReadMessages")).json.messages as Message[];
    expect(one).toMatchObject({ text: "one" });
    // The message counts as read, although the server has no proof yet that it arrived.
    const { members } = (await team.done("status", "--json")).json<{ members: Record<string, unknown>[] }>();
    expect(members.find(({ name }) => name === "ada")).toMatchObject({ unread: 0 });
    process.kill(first.transport.pid as number, "SIGKILL");
    await sendMessage(team.ref, { from: "team-lead", to: "ada", text: "two" });
    const second = await stdioClient(team);
    expect((await second.call("ReadMessages")).json.messages).toMatchObject([
      { id: one?.id, text: "one", again: true },
      { text: "two" },
    ]);
    expect((await second.call("ReadMessages")).json.messages).toEqual([]);
    const third = await stdioClient(team);
    expect((await third.call("ReadMessages")).json.messages).toEqual([]);
    expect((await third.call("ReadMessages", { recent: 1 })).json.messages).toMatchObject([{ text: "two" }]);
  });

  it("ends a Wait when a message arrives, at its time limit, and when the client cancels it", async () => {
    const team = await foreignTeam();
    const { client, call } = await stdioClient(team);
    expect((await call("Wait", { timeout_seconds: 0 })).json).toEqual({ happened: [], unread_messages: 0 });
    expect((await call("Wait", { timeout_seconds: 301 })).isError).toBe(true);
    const waiting = call("Wait", { for: ["message", "all_tasks_done"], timeout_seconds: 180 });
    // Without tasks, all tasks are done.
    expect((await waiting).json).toMatchObject({ happened: ["all_tasks_done"] });
    const shown: (string | undefined)[] = [];
    const onprogress = ({ message }: { message?: string | undefined }): void => void shown.push(message);
    const message = call("Wait", { timeout_seconds: 180 }, { onprogress });
    await eventually("progress", () => shown.includes("waiting"));
    await sendMessage(team.ref, { from: "team-lead", to: "ada", text: "hello" });
    expect((await message).json).toEqual({ happened: ["message"], unread_messages: 1 });
    await call("ReadMessages");
    const cancelled = new AbortController();
    const long = call("Wait", { timeout_seconds: 180 }, { signal: cancelled.signal });
    await client.ping().catch(() => undefined);
    cancelled.abort();
    await expect(long).rejects.toThrow();
    expect((await call("TeamStatus")).json).toMatchObject({ you: "ada", team: "crew" });
  });

  it("refuses a member that has left the team, although its server still runs", async () => {
    const team = await foreignTeam();
    const { call } = await stdioClient(team);
    expect((await call("TaskList")).isError).toBe(false);
    const config = team.ref.paths.config;
    const { members, ...rest } = JSON.parse(readFileSync(config, "utf8")) as { members: { name: string }[] };
    writeFileSync(config, JSON.stringify({ ...rest, members: members.filter(({ name }) => name !== "ada") }));
    const answer = await call("SendMessage", { recipient: "team-lead", content: "still here" });
    expect(answer).toMatchObject({ isError: true, json: { code: "AGENT_NOT_FOUND" } });
  });

  it("passes on neither secrets nor control characters", async () => {
    const team = await foreignTeam();
    const secret = "s3cret-value-of-the-server";
    const env = { ...team.env, MY_API_KEY: secret };
    const { call } = await stdioClient({ ...team, env });
    const text = `key ${secret} \u001b]0;title\u0007\u202ehidden`;
    await sendMessage(team.ref, { from: "team-lead", to: "ada", text });
    const answer = await call("ReadMessages");
    expect(answer.json.messages).toMatchObject([{ text: "key [secret] hidden" }]);
    expect(answer.text).not.toContain(secret);
  });
});

/** Sends one raw request: fetch cannot set the Host header. */
function rawRequest(
  url: string,
  headers: Record<string, string>,
  body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
  path = "/mcp",
): Promise<{ readonly status: number | undefined; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(url);
    const common = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const sent = request(
      { host: "127.0.0.1", port, path, method: "POST", headers: { ...common, ...headers } },
      (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => {
          text += chunk.toString("utf8");
        });
        response.on("end", () => resolve({ status: response.statusCode, text }));
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

describe("teams mcp --http", () => {
  it.each(["legacy", "auto"] as const)("serves clients that have the token (%s client)", async (mode) => {
    const team = await foreignTeam();
    const { url, tokenFile, child, ended } = await httpServer(team);
    expect(statSync(tokenFile).mode & 0o777).toBe(0o600);
    const token = readFileSync(tokenFile, "utf8").trim();
    const { client, call } = await httpClient(url, token, mode);
    const { tools } = await client.listTools(undefined, PATIENT);
    expect(tools.map(({ name }) => name)).toEqual(TEAMMATE_TOOLS);
    await sendMessage(team.ref, { from: "team-lead", to: "ada", text: "by http" });
    expect((await call("Wait", { timeout_seconds: 180 })).json).toMatchObject({ happened: ["message"] });
    expect((await call("ReadMessages")).json.messages).toMatchObject([{ text: "by http" }]);
    expect((await call("ReadMessages")).json.messages).toEqual([]);
    await client.close();
    child.kill("SIGINT");
    expect(await ended).toBe(130);
    const again = await httpServer(team);
    expect(readFileSync(again.tokenFile, "utf8").trim()).toBe(token);
  });

  it("keeps the token of a lead that deletes its team and creates it again", async () => {
    const team = await foreignTeam();
    const { url, tokenFile } = await httpServer(team, "team-lead");
    const token = readFileSync(tokenFile, "utf8");
    const { call } = await httpClient(url, token.trim());
    expect(await call("TeamDelete")).toMatchObject({ isError: false });
    expect(existsSync(tokenFile)).toBe(false);
    expect(await call("TeamCreate", { team_name: "crew" })).toMatchObject({ isError: false });
    expect(readFileSync(tokenFile, "utf8")).toBe(token);
    expect(statSync(tokenFile).mode & 0o777).toBe(0o600);
  });

  it("refuses requests without the token, from web pages, for another host name and outside its path", async () => {
    const team = await foreignTeam();
    const { url, tokenFile } = await httpServer(team);
    const authorization = `Bearer ${readFileSync(tokenFile, "utf8").trim()}`;
    expect((await rawRequest(url, { authorization })).status).toBe(200);
    expect((await rawRequest(url, {})).status).toBe(401);
    expect((await rawRequest(url, { authorization: "Bearer wrong" })).status).toBe(401);
    expect(
      (await rawRequest(url, { authorization: authorization.replace("Bearer ", "Basic ") })).status,
    ).toBe(401);
    expect((await rawRequest(url, { authorization, host: "evil.example" })).status).toBe(403);
    expect((await rawRequest(url, { authorization, host: "127.0.0.1:1" })).status).toBe(403);
    expect((await rawRequest(url, { authorization, origin: "http://evil.example" })).status).toBe(403);
    expect((await rawRequest(url, { authorization, origin: "null" })).status).toBe(403);
    expect((await rawRequest(url, { authorization }, undefined, "/")).status).toBe(404);
    const long = { authorization, "content-type": "application/json", "content-length": "10000000" };
    expect(await statusOfUnfinished(url, long, 0)).toBe(413);
    const malformed = await rawRequest(url, { authorization }, "half a");
    expect(malformed.status).toBe(400);
    expect((await rawRequest(url, { authorization })).status).toBe(200);
  });
});
