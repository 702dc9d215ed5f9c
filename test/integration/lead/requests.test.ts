import { describe, expect, it } from "vitest";
import { answerApproval, listApprovals } from "../../../src/lead/approvals.ts";
import { answerPermission, type LeadRights } from "../../../src/lead/permission-side.ts";
import { type MessageOf, parseProtocol } from "../../../src/protocol/messages.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import type { PermissionMode } from "../../../src/schema/permission-modes.ts";
import { history } from "../../../src/team/history.ts";
import { pending } from "../../../src/team/mailbox.ts";
import { addMembers } from "../../../src/team/members.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { openRequest } from "../../../src/team/requests.ts";
import { retireMember } from "../../support/retire.ts";
import { testTeam } from "../../support/team.ts";
import { contextOf } from "../../support/worker.ts";

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
const request = asked("Bash", { command: "ls" });

const rights = (given: Partial<LeadRights> & Partial<LeadRights["rules"]> = {}): LeadRights => {
  const { allow = [], ask = [], deny = [], ...more } = given;
  return { mode: "default", rules: { allow, ask, deny }, directories: [], ...more };
};

const asOurs = (ref: TeamRef): void =>
  openRequest(ref, { id: ID, kind: "permission", from: "dev", summary: "Bash(ls)", payload: {}, at: 1 });
const responses = async (ref: TeamRef) =>
  (await pending(ref, "dev")).flatMap(({ protocol }) =>
    protocol?.type === "permission_response" ? [protocol] : [],
  );

describe("a teammate's permission request at the lead's side", () => {
  it.each<[PermissionMode, string]>([
    ["bypassPermissions", "success"],
    ["dontAsk", "error"],
  ])("is decided by the lead's mode %s with %s", async (mode, subtype) => {
    const ref = await testTeam(["dev"]);
    asOurs(ref);
    expect(await answerPermission(contextOf(ref), "dev", request, rights({ mode }))).toBe("answered");
    expect(await responses(ref)).toMatchObject([{ request_id: ID, subtype }]);
    expect(listApprovals(ref)).toEqual([]);
  });

  it.each<PermissionMode>(["default", "acceptEdits", "plan", "delegate"])(
    "waits for a person in mode %s",
    async (mode) => {
      const ref = await testTeam(["dev"]);
      asOurs(ref);
      expect(await answerPermission(contextOf(ref), "dev", request, rights({ mode }))).toBe("person");
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
      asked("Bash", { command: "git log && ls" }),
      { allow: ["Bash(git:*)", "Bash(ls)"] },
      "success",
    ],
    [
      "no rule for all of it",
      asked("Bash", { command: "git log && rm x" }),
      { allow: ["Bash(git:*)"] },
      "person",
    ],
    ["a deny rule", request, { mode: "bypassPermissions", deny: ["Bash(ls:*)"] }, "error"],
    ["an ask rule", request, { allow: ["Bash"], ask: ["Bash(ls)"] }, "person"],
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
    ["a directory of its own", asked("Read", { file_path: "/srv/a" }), { directories: ["/srv"] }, "success"],
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
      "a rule for a tool that only the asker has",
      asked("mcp__docs__find", {}),
      { allow: ["mcp__docs__*"] },
      "success",
    ],
    ["no rule for such a tool", asked("mcp__docs__find", {}), { allow: ["Bash"] }, "person"],
    ["an input that is none of the tool's", asked("Bash", { cmd: 5 }), { allow: ["Bash(ls)"] }, "person"],
  ])("is decided by the lead's own rights: %s", async (_, message, given, expected) => {
    const ref = await testTeam();
    await addMembers(ref, [{ name: "dev", cwd: "/site" }]);
    asOurs(ref);
    const how = await answerPermission(contextOf(ref), "dev", message, rights(given));
    expect(how).toBe(expected === "person" ? "person" : "answered");
    expect((await responses(ref)).map(({ subtype }) => subtype)).toEqual(
      expected === "person" ? [] : [expected],
    );
  });

  it("of a foreign peer, which opens no request itself, shows among what waits (S61)", async () => {
    const ref = await testTeam(["dev"]);
    await answerPermission(contextOf(ref), "dev", request, rights());
    expect(listApprovals(ref)).toMatchObject([
      { id: ID, kind: "permission", from: "dev", summary: 'Bash({"command":"ls"})' },
    ]);
    await answerApproval(contextOf(ref), ID, { approve: true, note: "go" });
    expect(await responses(ref)).toMatchObject([
      {
        subtype: "success",
        response: { updated_input: { command: "ls" }, permission_updates: [] },
        feedback: "go",
      },
    ]);
  });

  it("that the person at the agent's own pane has answered before stands as it is", async () => {
    const ref = await testTeam(["dev"]);
    asOurs(ref);
    await answerApproval(contextOf(ref), ID, { approve: false, note: "no" });
    expect(
      await answerPermission(contextOf(ref), "dev", request, rights({ mode: "bypassPermissions" })),
    ).toBe("answered");
    expect(await responses(ref)).toMatchObject([{ subtype: "error", error: "no" }]);
  });
});

describe("what waits for somebody", () => {
  const open = (
    ref: TeamRef,
    id: string,
    at: number,
    kind: "plan" | "permission" | "question" = "plan",
  ): void => openRequest(ref, { id, kind, from: "dev", summary: `it is ${id}`, payload: { secret: 1 }, at });

  it("is listed oldest first, in the documented shape", async () => {
    const ref = await testTeam(["dev"]);
    open(ref, "late", 20);
    open(ref, "early", 10, "question");
    expect(listApprovals(ref)).toEqual([
      { id: "early", kind: "question", from: "dev", summary: "it is early", at: 10 },
      { id: "late", kind: "plan", from: "dev", summary: "it is late", at: 20 },
    ]);
  });

  it("is answered once, also by many at the same moment, and by no teammate", async () => {
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

  it.each(["nothing", "../config", "", "p/../p"])("is not found under the id %j", async (id) => {
    const ref = await testTeam(["dev"]);
    open(ref, "p", 1);
    await expect(answerApproval(contextOf(ref), id, { approve: true })).rejects.toMatchObject({
      code: "REQUEST_NOT_FOUND",
    });
    expect(await history(ref, LEAD_NAME)).toEqual([]);
  });

  it("of one that has left is told to nobody", async () => {
    const ref = await testTeam(["dev"]);
    open(ref, "p", 1);
    await retireMember(ref, "dev", "killed");
    await expect(answerApproval(contextOf(ref), "p", { approve: true })).rejects.toMatchObject({
      code: "RECIPIENT_INACTIVE",
    });
  });
});
