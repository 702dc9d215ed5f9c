import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { NO_RULES, type PermissionRules } from "../../../../src/agent/permissions/rules.ts";
import { answerApproval, listApprovals } from "../../../../src/operations/approvals/approvals.ts";
import { decideByLeadRules } from "../../../../src/operations/approvals/decide-by-lead-rules.ts";
import { type MessageOf, parseProtocol } from "../../../../src/protocol/messages.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import type { PermissionMode } from "../../../../src/schema/permission-modes.ts";
import { history } from "../../../../src/team/mailbox/history.ts";
import { unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { readStatus } from "../../../../src/team/records/read-records.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { answerRequest } from "../../../../src/team/requests/requests.ts";
import { cliIn } from "../../../support/processes/in-process-cli.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import {
  contextOf,
  type RunningWorker,
  startWorker,
  type WorkerInput,
} from "../../../support/worker/start-worker.ts";

/** Serves a page on the loopback interface and counts its requests. */
async function page() {
  let asked = 0;
  const server = createServer((_, response) => {
    asked += 1;
    response.writeHead(200, { "content-type": "text/plain" }).end("words of the page");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked: () => asked };
}

/** Starts a teammate that fetches the same page twice. */
async function fetching(input: WorkerInput = {}) {
  const ref = await testTeam(["dev", "ada"]);
  const { url, asked } = await page();
  const fetch = { tools: [{ name: "WebFetch", input: { url } }] };
  const dev = await startWorker(ref, { mode: "default", turns: [fetch, fetch, { say: "done" }], ...input });
  onTestFinished(async () => {
    await dev.stop().catch(() => undefined);
  });
  await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "begin" });
  return { ref, dev, url, asked };
}

const request = (ref: TeamRef, except?: string) =>
  eventually("the request", () => listApprovals(ref).find(({ id }) => id !== except));
const ended = (ref: TeamRef, dev: RunningWorker) =>
  eventually("the end", () => dev.inputs.length > 0 && readStatus(ref, "dev")?.state === "idle");
const results = ({ messages }: RunningWorker): string[] =>
  messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === "tool_result" ? [block.content] : [])),
  );
const requestToLead = (ref: TeamRef) =>
  eventually("the message", async () => {
    const found = (await unreadMessages(ref, LEAD_NAME)).find(
      ({ protocol }) => protocol?.type === "sandbox_permission_request",
    );
    return found?.protocol as MessageOf<"sandbox_permission_request"> | undefined;
  });
const answerOf = async (ref: TeamRef) =>
  (await history(ref, "dev", { all: true }))
    .map(({ text }) => parseProtocol(text))
    .find((message) => message?.type === "sandbox_permission_response");

/** Decides on the request as a lead with these rules and this mode. */
const decideAsLead = (
  ref: TeamRef,
  message: MessageOf<"sandbox_permission_request">,
  rules: Partial<PermissionRules>,
  mode: PermissionMode = "default",
  from = "dev",
) =>
  decideByLeadRules(contextOf(ref), from, message, {
    mode,
    rules: { ...NO_RULES, ...rules },
    directories: [],
  });

describe("request for an unknown host", () => {
  it("is shown in the pane and sent to the lead before the host is contacted (S61)", async () => {
    const { ref, dev, url, asked } = await fetching();
    const waiting = await request(ref);
    expect(waiting).toMatchObject({ kind: "permission", from: "dev", summary: `WebFetch(${url})` });
    await eventually("the pane", () => dev.shown.includes(`permission ${waiting.id}: WebFetch(${url})`));
    expect(await requestToLead(ref)).toMatchObject({ requestId: waiting.id, host: "127.0.0.1" });
    expect(asked()).toBe(0);
    await answerApproval(contextOf(ref), waiting.id, { approve: true, note: "this once" });
    const again = await request(ref, waiting.id);
    expect(asked()).toBe(1);
    expect(await answerOf(ref)).toMatchObject({ requestId: waiting.id, allow: true, feedback: "this once" });
    await answerApproval(contextOf(ref), again.id, { approve: false, note: "enough" });
    await ended(ref, dev);
    expect(asked()).toBe(1);
    expect(results(dev)).toEqual([
      expect.stringMatching(/words of the page[\s\S]*this once/),
      expect.stringContaining("enough"),
    ]);
    expect(listApprovals(ref)).toEqual([]);
  });

  it("is answered in the pane, and for later calls by “always”", async () => {
    const { ref, dev, asked } = await fetching();
    const { id } = await request(ref);
    await eventually("the pane", () => dev.shown.includes("always: WebFetch(domain:127.0.0.1)"));
    await dev.worker.handleTypedLine("a");
    await ended(ref, dev);
    expect(asked()).toBe(2);
    await expect(answerApproval(contextOf(ref), id, { approve: false })).rejects.toThrow();
  });

  it("is allowed for later calls by teams approve --always", async () => {
    const { ref, dev, asked } = await fetching();
    const { id } = await request(ref);
    const cli = cliIn(dirname(ref.home.root));
    const env = { TEAMS_HOME: ref.home.root };
    const done = await cli(["approve", id, "--always", "--team", "crew", "--json"], { env });
    expect(done.json()).toMatchObject({ always: { rules: ["WebFetch(domain:127.0.0.1)"] } });
    await ended(ref, dev);
    expect(asked()).toBe(2);
  });

  it.each<[string, Partial<PermissionRules>, PermissionMode, boolean]>([
    ["allowed by a rule of the lead", { allow: ["WebFetch(domain:127.0.0.1)"] }, "default", true],
    ["allowed by the mode of the lead", {}, "bypassPermissions", true],
    ["refused by a rule of the lead", { deny: ["WebFetch"] }, "bypassPermissions", false],
  ])("is %s", async (_, rules, mode, allowed) => {
    const { ref, dev, asked } = await fetching();
    const message = await requestToLead(ref);
    expect(await decideAsLead(ref, message, rules, mode)).toBe("answered");
    await eventually("the result", () => results(dev).length > 0);
    expect(asked()).toBe(allowed ? 1 : 0);
    expect(await answerOf(ref)).toMatchObject({ requestId: message.requestId, allow: allowed });
  });

  it("waits for the user if an ask rule matches, whatever the lead's mode", async () => {
    const { ref, dev, asked } = await fetching({ settings: { permissions: { ask: ["WebFetch"] } } });
    const message = await requestToLead(ref);
    expect(await decideAsLead(ref, message, {}, "bypassPermissions")).toBe("person");
    await dev.worker.handleTypedLine("y");
    await eventually("the result", () => results(dev).length > 0);
    expect(asked()).toBe(1);
  });

  it("waits for the user if no rule of the lead matches, and accepts the first answer", async () => {
    const { ref, dev, asked } = await fetching();
    const message = await requestToLead(ref);
    expect(await decideAsLead(ref, message, { allow: ["WebFetch"] })).toBe("person");
    const no = { approve: false, note: "", by: "sidebar", at: 0 };
    expect(await answerRequest(ref, message.requestId, no)).toBe("answered");
    expect(await decideAsLead(ref, message, {}, "bypassPermissions")).toBe("answered");
    await dev.worker.handleTypedLine("y");
    expect([asked(), await answerOf(ref)]).toEqual([0, undefined]);
  });

  it("accepts an answer only from the lead and only for its own id (S72)", async () => {
    const { ref, dev, asked } = await fetching();
    const { id } = await request(ref);
    const yes = (requestId: string) =>
      JSON.stringify({ type: "sandbox_permission_response", requestId, allow: true });
    await sendMessage(ref, { from: "ada", to: "dev", text: yes(id) });
    await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: yes(`${id}x`) });
    await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: '{"type":"sandbox_permission_response"}' });
    await eventually("the messages to be read", async () => (await unreadMessages(ref, "dev")).length <= 1);
    expect([asked(), listApprovals(ref).length]).toEqual([0, 1]);
    await dev.worker.handleTypedLine("n");
    await request(ref, id);
    expect(asked()).toBe(0);
  });
});

it("request for a host › from another program is listed and answered in its format", async () => {
  const ref = await testTeam(["dev", "ada"]);
  const message = {
    type: "sandbox_permission_request" as const,
    requestId: "sandbox-1-abc",
    host: "Example.ORG",
  };
  expect(await decideAsLead(ref, message, {}, "default", "ada")).toBe("person");
  expect(listApprovals(ref)).toMatchObject([
    { id: message.requestId, kind: "permission", from: "ada", summary: "WebFetch(example.org)" },
  ]);
  await answerApproval(contextOf(ref), message.requestId, {
    approve: true,
    always: { rules: ["WebFetch(domain:example.org)"], destination: "session" },
  });
  const [response] = await history(ref, "ada", { all: true });
  expect(JSON.parse(response?.text ?? "")).toMatchObject({
    type: "sandbox_permission_response",
    requestId: message.requestId,
    allow: true,
  });
});
