import { readdirSync, statSync, utimesSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  answerApproval,
  approvalDetails,
  listApprovals,
} from "../../../../src/operations/approvals/approvals.ts";
import {
  decideByLeadRules,
  type LeadRights,
} from "../../../../src/operations/approvals/decide-by-lead-rules.ts";
import { openForeignRequests } from "../../../../src/operations/approvals/foreign-requests.ts";
import { teamStatus } from "../../../../src/operations/status.ts";
import { type MessageOf, parseProtocol } from "../../../../src/protocol/messages.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import type { PermissionMode } from "../../../../src/schema/permission-modes.ts";
import { updateTeamFile } from "../../../../src/team/config/team-lock.ts";
import { history } from "../../../../src/team/mailbox/history.ts";
import { unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { addMembers, patchMember } from "../../../../src/team/members/members.ts";
import { setMode } from "../../../../src/team/members/permission-mode.ts";
import { claimStarts } from "../../../../src/team/members/start-claims.ts";
import { writeStatus } from "../../../../src/team/records/write-records.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import {
  answerRequest,
  closeRequest,
  openRequest,
  readAnswer,
  readRequest,
  suggestedRules,
} from "../../../../src/team/requests/requests.ts";
import { retireMember } from "../../../support/team/retire-member.ts";
import { statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

const ID = "perm-1-abcdefg";
const asked = (tool: string, input: object, more: object = {}) =>
  parseProtocol(
    JSON.stringify({
      type: "permission_request",
      request_id: ID,
      agent_id: "dev",
      tool_name: tool,
      input,
      ...more,
    }),
  ) as MessageOf<"permission_request">;
const request = asked("Bash", { command: "touch a" });

const rights = (given: Partial<LeadRights> & Partial<LeadRights["rules"]> = {}): LeadRights => {
  const { allow = [], ask = [], deny = [], ...more } = given;
  return { mode: "default", rules: { allow, ask, deny }, directories: [], ...more };
};

/** Opens the request as the process of the teammate does, or the lead's process for another program. */
const openOurs = (ref: TeamRef, { tool_name: tool, input } = request): void =>
  openRequest(ref, {
    ...{ id: ID, kind: "permission", from: "dev", at: 1 },
    summary: "Bash(touch a)",
    payload: { tool, input },
  });
const responses = async (ref: TeamRef) =>
  (await unreadMessages(ref, "dev")).flatMap(({ protocol }) =>
    protocol?.type === "permission_response" ? [protocol] : [],
  );

describe("a permission request of a teammate", () => {
  it.each<[PermissionMode, string]>([
    ["bypassPermissions", "success"],
    ["dontAsk", "error"],
  ])("is decided by the lead's mode %s with %s", async (mode, subtype) => {
    const ref = await testTeam(["dev"]);
    openOurs(ref);
    expect(await decideByLeadRules(contextOf(ref), "dev", request, rights({ mode }))).toBe("answered");
    expect(await responses(ref)).toMatchObject([{ request_id: ID, subtype }]);
    expect(listApprovals(ref)).toEqual([]);
  });

  it.each<PermissionMode>(["default", "acceptEdits", "plan", "delegate"])(
    "waits for the user in mode %s",
    async (mode) => {
      const ref = await testTeam(["dev"]);
      openOurs(ref);
      expect(await decideByLeadRules(contextOf(ref), "dev", request, rights({ mode }))).toBe("person");
      expect(await responses(ref)).toEqual([]);
      expect(listApprovals(ref)).toHaveLength(1);
    },
  );

  type Row = [
    string,
    MessageOf<"permission_request">,
    Parameters<typeof rights>[0],
    "success" | "error" | "person",
  ];
  it.each<Row>([
    [
      "an allow rule",
      asked("Bash", { command: "git pull && touch a" }),
      { allow: ["Bash(git:*)", "Bash(touch a)"] },
      "success",
    ],
    [
      "a rule for only a part of the command",
      asked("Bash", { command: "git pull && rm x" }),
      { allow: ["Bash(git:*)"] },
      "person",
    ],
    ["a deny rule", request, { mode: "bypassPermissions", deny: ["Bash(touch:*)"] }, "error"],
    ["an ask rule", request, { allow: ["Bash"], ask: ["Bash(touch a)"] }, "person"],
    [
      "acceptEdits, inside",
      asked("Write", { file_path: "/site/a", content: "" }),
      { mode: "acceptEdits" },
      "success",
    ],
    [
      "acceptEdits, outside",
      asked("Write", { file_path: "/etc/a", content: "" }),
      { mode: "acceptEdits" },
      "person",
    ],
    ["a directory of the lead", asked("Read", { file_path: "/srv/a" }), { directories: ["/srv"] }, "success"],
    [
      "acceptEdits, protected",
      asked("Write", { file_path: "/site/.git/x", content: "" }),
      { mode: "acceptEdits" },
      "person",
    ],
    [
      "a rule, for a relative file",
      asked("Read", { file_path: "../etc/a" }),
      { allow: ["Read(//etc/**)"] },
      "success",
    ],
    [
      "a rule for a tool that only the teammate has",
      asked("mcp__docs__find", {}),
      { allow: ["mcp__docs__*"] },
      "success",
    ],
    [
      "no rule for a tool that only the teammate has",
      asked("mcp__docs__find", {}),
      { allow: ["Bash"] },
      "person",
    ],
    [
      "an input that does not match the tool",
      asked("Bash", { cmd: 5 }),
      { allow: ["Bash(touch a)"] },
      "person",
    ],
  ])("is decided by the lead's own rights: %s", async (_, message, given, expected) => {
    const ref = await testTeam();
    await addMembers(ref, [{ name: "dev", cwd: "/site" }]);
    openOurs(ref, message);
    const how = await decideByLeadRules(contextOf(ref), "dev", message, rights(given));
    expect(how).toBe(expected === "person" ? "person" : "answered");
    expect((await responses(ref)).map(({ subtype }) => subtype)).toEqual(
      expected === "person" ? [] : [expected],
    );
  });

  it("reserved for the user is never allowed by the lead's mode or rules, but can be denied", async () => {
    const ref = await testTeam(["dev"]);
    const guarded = asked("Bash", { command: "touch a" }, { guarded: true });
    openOurs(ref);
    for (const given of [{ allow: ["Bash"] }, { mode: "bypassPermissions" as const }])
      expect(await decideByLeadRules(contextOf(ref), "dev", guarded, rights(given))).toBe("person");
    expect(listApprovals(ref)).toHaveLength(1);
    const host = {
      type: "sandbox_permission_request" as const,
      requestId: ID,
      host: "a.example",
      guarded: true,
    };
    expect(await decideByLeadRules(contextOf(ref), "dev", host, rights({ allow: ["WebFetch"] }))).toBe(
      "person",
    );
    expect(await decideByLeadRules(contextOf(ref), "dev", guarded, rights({ deny: ["Bash"] }))).toBe(
      "answered",
    );
    expect(await responses(ref)).toMatchObject([{ subtype: "error" }]);
  });

  it("of another program is not allowed by a second, harmless request with the same id", async () => {
    const ref = await testTeam(["dev"]);
    const allowing = rights({ allow: ["Bash(touch a)", "WebFetch"] });
    const decide = (message: Parameters<typeof decideByLeadRules>[2]) =>
      decideByLeadRules(contextOf(ref), "dev", message, allowing);
    expect(await decide(asked("Bash", { command: "rm -rf ~" }))).toBe("person");
    expect(await decide(request)).toBe("person");
    const host = { type: "sandbox_permission_request" as const, requestId: ID, host: "a.example" };
    expect(await decide(host)).toBe("person");
    expect([await responses(ref), listApprovals(ref).length]).toEqual([[], 1]);
  });

  it("to reach this machine under another name needs a rule that names it", async () => {
    const ref = await testTeam(["dev"]);
    const decide = (host: string, at: number) => {
      const message = { type: "sandbox_permission_request" as const, requestId: `sandbox-${at}`, host };
      return decideByLeadRules(contextOf(ref), "dev", message, rights({ allow: ["WebFetch(domain:*)"] }));
    };
    for (const [at, host] of ["localhost:8080", "127.1", "2130706433", "[::1]:80", "::1%lo"].entries())
      expect(await decide(host, at), host).toBe("person");
    expect(await decide("example.org:443", 9)).toBe("answered");
  });

  it.each([
    ["localhost:8080", "localhost"],
    ["127.1:80", "127.0.0.1"],
    ["Example.org:443", "example.org"],
  ])("to reach %s gets the rule for %s on “always”", async (host, named) => {
    const ref = await testTeam(["dev"]);
    const message = { type: "sandbox_permission_request" as const, requestId: "sandbox-1", host };
    expect(await decideByLeadRules(contextOf(ref), "dev", message, rights())).toBe("person");
    const rule = `WebFetch(domain:${named})`;
    expect(suggestedRules(readRequest(ref, message.requestId))).toEqual([rule]);
    const again = { ...message, requestId: "sandbox-2" };
    expect(await decideByLeadRules(contextOf(ref), "dev", again, rights({ allow: [rule] }))).toBe("answered");
  });

  it("that was already answered is not opened again", async () => {
    const ref = await testTeam(["dev"]);
    writeStatus(ref, "dev", statusOf());
    const answered = await decideByLeadRules(contextOf(ref), "dev", request, rights());
    expect([answered, listApprovals(ref), await responses(ref)]).toEqual(["answered", [], []]);
  });

  it("is not decided by a message of another member", async () => {
    const ref = await testTeam(["dev", "ada"]);
    writeStatus(ref, "ada", statusOf());
    openOurs(ref);
    const forged = { ...request, agent_id: "ada" };
    for (const from of ["ada", "Ada"])
      expect(
        await decideByLeadRules(contextOf(ref), from, forged, rights({ allow: ["Bash(touch a)"] })),
      ).toBe("answered");
    expect([await responses(ref), listApprovals(ref).map(({ id }) => id)]).toEqual([[], [ID]]);
  });

  it("of a former member cannot be answered", async () => {
    const ref = await testTeam(["dev"]);
    await retireMember(ref, "dev", "killed");
    for (const given of [{}, { allow: ["Bash(touch a)"] }])
      expect(await decideByLeadRules(contextOf(ref), "dev", request, rights(given))).toBe("answered");
    expect(listApprovals(ref)).toEqual([]);
  });

  it("of another program's member is listed among the approvals, and can be answered (S61)", async () => {
    const ref = await testTeam(["dev"]);
    await decideByLeadRules(contextOf(ref), "dev", request, rights());
    expect(listApprovals(ref)).toMatchObject([
      { id: ID, kind: "permission", from: "dev", summary: "Bash(touch a)" },
    ]);
    await answerApproval(contextOf(ref), ID, { approve: true, note: "go" });
    expect(await responses(ref)).toMatchObject([
      {
        subtype: "success",
        response: { updated_input: { command: "touch a" }, permission_updates: [] },
        feedback: "go",
      },
    ]);
  });

  it("of another program's member is found even without a running lead, and so is its plan (interop.md)", async () => {
    const ref = await testTeam(["w"]);
    const plan = { planFilePath: "/plans/w.md", planContent: "# My plan\n1. do x\n" };
    const texts = [
      { ...request, request_id: ID, agent_id: "w" },
      { type: "sandbox_permission_request", requestId: "sandbox-1", host: "example.com" },
      { type: "plan_approval_request", from: "w", requestId: "plan_approval-1@w@crew", ...plan },
    ];
    for (const text of texts)
      await sendMessage(ref, { from: "w", to: LEAD_NAME, text: JSON.stringify(text) });
    const waiting = async () =>
      (await teamStatus(contextOf(ref))).approvals.map(({ kind, id }) => ({ kind, id }));
    const first = await waiting();
    expect(first).toHaveLength(3);
    // Requests of the same millisecond may come in any order.
    expect(first).toEqual(
      expect.arrayContaining([
        { kind: "permission", id: ID },
        { kind: "permission", id: "sandbox-1" },
        { kind: "plan", id: "plan_approval-1@w@crew" },
      ]),
    );
    for (const { id, kind } of first) await answerApproval(contextOf(ref), id, { approve: kind === "plan" });
    expect(await waiting()).toEqual([]);
    const answers = (await unreadMessages(ref, "w")).map(({ protocol }) => protocol);
    expect(answers).toHaveLength(3);
    expect(answers).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: "permission_response", request_id: ID, subtype: "error" }),
        expect.objectContaining({ requestId: "sandbox-1", allow: false }),
        expect.objectContaining({ requestId: "plan_approval-1@w@crew", approved: true }),
      ]),
    );
    expect(await waiting()).toEqual([]);
  });

  it.each([2_000, 100_000])(
    "of another program's member with an input of %d levels is answered only with an input that no tool accepts",
    async (levels) => {
      const ref = await testTeam(["w"]);
      const call = { ...request, agent_id: "w", input: { command: "touch a", deep: "HERE" } };
      const text = JSON.stringify(call).replace('"HERE"', '{"a":'.repeat(levels) + 1 + "}".repeat(levels));
      await sendMessage(ref, { from: "w", to: LEAD_NAME, text });
      const [entry] = await unreadMessages(ref, LEAD_NAME);
      const asked = entry?.protocol as typeof request;
      for (const mode of ["default", "bypassPermissions"] as const)
        await decideByLeadRules(contextOf(ref), "w", asked, rights({ mode, allow: ["Bash(touch a)"] }));
      expect((await teamStatus(contextOf(ref))).approvals).toEqual([]);
      const [answer] = (await unreadMessages(ref, "w")).map(({ protocol }) => protocol);
      const invalid = { invalid: "more than 200 levels of objects and lists" };
      expect(answer).toMatchObject({ subtype: "success", response: { updated_input: invalid } });
    },
  );

  it("of another program's member is dropped if it came from a former holder of the name", async () => {
    const ref = await testTeam(["w"]);
    await sendMessage(ref, { from: "w", to: LEAD_NAME, text: JSON.stringify({ ...request, agent_id: "w" }) });
    await patchMember(ref, "w", { joinedAt: Date.now() + 60_000 });
    await openForeignRequests(ref, {});
    expect(listApprovals(ref)).toEqual([]);
  });

  it("of another program's member is written once, not at every check", async () => {
    const ref = await testTeam(["w"]);
    await sendMessage(ref, { from: "w", to: LEAD_NAME, text: JSON.stringify({ ...request, agent_id: "w" }) });
    await openForeignRequests(ref, {});
    const before = new Date("2026-01-01T00:00:00Z");
    utimesSync(ref.paths.requests, before, before);
    await openForeignRequests(ref, {});
    expect([listApprovals(ref).length, statSync(ref.paths.requests).mtime]).toEqual([1, before]);
  });

  it("of a member that is being restarted is not opened again", async () => {
    const ref = await testTeam(["dev"]);
    await sendMessage(ref, { from: "dev", to: LEAD_NAME, text: JSON.stringify(request) });
    await claimStarts(ref, ({ name }) => (name === "dev" ? { session: undefined } : undefined));
    await openForeignRequests(ref, {});
    expect(await decideByLeadRules(contextOf(ref), "dev", request, rights())).toBe("answered");
    expect(listApprovals(ref)).toEqual([]);
  });

  it("that the user answered in the agent's pane keeps that answer", async () => {
    const ref = await testTeam(["dev"]);
    openOurs(ref);
    await answerApproval(contextOf(ref), ID, { approve: false, note: "no" });
    expect(
      await decideByLeadRules(contextOf(ref), "dev", request, rights({ mode: "bypassPermissions" })),
    ).toBe("answered");
    expect(await responses(ref)).toMatchObject([{ subtype: "error", error: "no" }]);
  });
});

describe("answering an approval", () => {
  it("limits a plan's mode to the lead's own if a lead agent answers, but not if the user does", async () => {
    const ref = await testTeam(["dev"]);
    await setMode(ref, LEAD_NAME, "acceptEdits");
    open(ref, "one", 1);
    const answer = { approve: true, mode: "bypassPermissions" as const };
    await expect(
      answerApproval(contextOf(ref), "one", { ...answer, decider: "model" }),
    ).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
    });
    expect(listApprovals(ref)).toHaveLength(1);
    await answerApproval(contextOf(ref), "one", answer);
    open(ref, "two", 2);
    await answerApproval(contextOf(ref), "two", { ...answer, mode: "acceptEdits", decider: "model" });
    expect(listApprovals(ref)).toEqual([]);
  });

  it("sends a recorded answer once if its sender died before sending", async () => {
    const ref = await testTeam(["dev"]);
    open(ref, "one", 1);
    await answerRequest(ref, "one", { approve: true, by: LEAD_NAME, note: "go on", at: 2 });
    for (let i = 0; i < 2; i += 1) {
      const late = answerApproval(contextOf(ref), "one", { approve: false });
      await expect(late).rejects.toMatchObject({ code: "ALREADY_ANSWERED" });
    }
    expect((await unreadMessages(ref, "dev")).map(({ protocol }) => protocol)).toMatchObject([
      { type: "plan_approval_response", requestId: "one", approved: true, feedback: "go on" },
    ]);
  });

  it("adds the answer to the request's details until the asker has closed it", async () => {
    const ref = await testTeam(["dev"]);
    open(ref, "one", 1);
    expect(await approvalDetails(ref, "one")).not.toHaveProperty("answer");
    await answerApproval(contextOf(ref), "one", { approve: false, note: "too large" });
    expect((await approvalDetails(ref, "one")).answer).toEqual({
      approve: false,
      by: LEAD_NAME,
      note: "too large",
    });
    closeRequest(ref, "one");
    await expect(approvalDetails(ref, "one")).rejects.toThrow("one has already been answered");
  });

  it("fails with ALREADY_ANSWERED even after the asker has closed the answered request", async () => {
    const ref = await testTeam(["dev"]);
    open(ref, "one", 1);
    await answerApproval(contextOf(ref), "one", { approve: true });
    closeRequest(ref, "one");
    open(ref, "unanswered", 2);
    closeRequest(ref, "unanswered");
    expect(readdirSync(ref.paths.requests)).toEqual([]);
    const answerAgain = (id: string) => answerApproval(contextOf(ref), id, { approve: false });
    await expect(answerAgain("one")).rejects.toMatchObject({ code: "ALREADY_ANSWERED" });
    await expect(answerAgain("unanswered")).rejects.toMatchObject({ code: "REQUEST_NOT_FOUND" });
    expect(await unreadMessages(ref, "dev")).toHaveLength(1);
  });

  const open = (
    ref: TeamRef,
    id: string,
    at: number,
    kind: "plan" | "permission" | "question" = "plan",
  ): void => openRequest(ref, { id, kind, from: "dev", summary: `it is ${id}`, payload: { secret: 1 }, at });

  it("starts from a list of open requests, oldest first, in the documented shape", async () => {
    const ref = await testTeam(["dev"]);
    open(ref, "late", 20);
    open(ref, "early", 10, "question");
    expect(listApprovals(ref)).toEqual([
      { id: "early", kind: "question", from: "dev", summary: "it is early", at: 10 },
      { id: "late", kind: "plan", from: "dev", summary: "it is late", at: 20, partial: true },
    ]);
  });

  it("takes effect once if many answers come at the same moment, and is refused to a teammate", async () => {
    const ref = await testTeam(["dev", "ada"]);
    open(ref, "p", 1);
    await expect(answerApproval(contextOf(ref, "ada"), "p", { approve: true })).rejects.toMatchObject({
      code: "NOT_LEAD",
    });
    const all = await Promise.allSettled(
      Array.from({ length: 10 }, (_, i) => answerApproval(contextOf(ref), "p", { approve: i % 2 === 0 })),
    );
    expect(all.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const one of all) if (one.status === "rejected") expect(one.reason.code).toBe("ALREADY_ANSWERED");
    expect(await history(ref, "dev")).toHaveLength(1);
  });

  it("sends the first answer once the inbox is unlocked, despite a second one", async () => {
    const ref = await testTeam(["dev"]);
    open(ref, "p", 1);
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const lock = updateTeamFile(ref, ref.paths.inbox("dev"), { whileLocked: () => released });
    const first = answerApproval(contextOf(ref), "p", { approve: true });
    await eventually("the answer", () => readAnswer(ref, "p"));
    const second = answerApproval(contextOf(ref), "p", { approve: false });
    expect([await history(ref, "dev"), listApprovals(ref)]).toEqual([[], []]);
    release();
    await expect(second).rejects.toMatchObject({ code: "ALREADY_ANSWERED" });
    await Promise.all([first, lock]);
    expect((await unreadMessages(ref, "dev")).map(({ protocol }) => protocol)).toMatchObject([
      { type: "plan_approval_response", approved: true },
    ]);
  });

  it.each(["nothing", "../config", "", "p/../p"])("fails for the unknown id %j", async (id) => {
    const ref = await testTeam(["dev"]);
    open(ref, "p", 1);
    await expect(answerApproval(contextOf(ref), id, { approve: true })).rejects.toMatchObject({
      code: "REQUEST_NOT_FOUND",
    });
    expect(await history(ref, LEAD_NAME)).toEqual([]);
  });

  it("fails for a former member, and records nothing", async () => {
    const ref = await testTeam(["dev"]);
    open(ref, "p", 1);
    await retireMember(ref, "dev", "killed");
    await expect(answerApproval(contextOf(ref), "p", { approve: true })).rejects.toMatchObject({
      code: "RECIPIENT_INACTIVE",
    });
    expect([readAnswer(ref, "p"), listApprovals(ref).map(({ id }) => id)]).toEqual([undefined, ["p"]]);
  });
});
