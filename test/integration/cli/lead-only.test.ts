import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { readTeam } from "../../../src/team/config/config.ts";
import { history } from "../../../src/team/mailbox/history.ts";
import { addMembers } from "../../../src/team/members/members.ts";
import { writeStatus } from "../../../src/team/records/write-records.ts";
import { type TeamRef, teamRef } from "../../../src/team/ref.ts";
import { listRequests, openRequest } from "../../../src/team/requests/requests.ts";
import { getTask } from "../../../src/team/tasks/tasks.ts";
import { addTask, updateTask } from "../../../src/team/tasks/update-task.ts";
import { type Cli, cliIn } from "../../support/processes/in-process-cli.ts";
import { memberTools } from "../../support/team/member-tools.ts";
import { retireMember } from "../../support/team/retire-member.ts";
import { statusOf } from "../../support/team/status-records.ts";

interface Call {
  readonly tool: string;
  readonly input: object;
}

const send = (input: object): Call => ({ tool: "SendMessage", input });
const AT = 1_700_000_000_000;
const PLAN = `plan_approval-${AT}@zoe@crew`;

/**
 * Creates a team with a live `zoe`, who waits for a plan approval, a permission and an answer; `dev`; and the
 * former member `old`.
 */
async function world(): Promise<{ readonly cli: Cli; readonly ref: TeamRef }> {
  const cli = cliIn();
  await cli(["create", "crew"]);
  const ref = teamRef({ root: cli.root, runtime: join(cli.directory, "runtime", "teams") }, "crew");
  await addMembers(ref, [
    { name: "dev", cwd: cli.directory },
    { name: "zoe", cwd: cli.directory },
    { name: "old", cwd: cli.directory },
  ]);
  writeStatus(ref, "zoe", statusOf());
  const asked = { from: "zoe", at: AT, summary: "it", payload: {} };
  openRequest(ref, { id: PLAN, kind: "plan", ...asked });
  openRequest(ref, { id: `perm-${AT}-abcdefg`, kind: "permission", ...asked });
  openRequest(ref, { id: `question-${AT}@zoe`, kind: "question", ...asked });
  await retireMember(ref, "old", "shutdown");
  await addTask(ref, LEAD_NAME, { subject: "done", description: "" });
  await updateTask(ref, LEAD_NAME, "1", { status: "completed" });
  return { cli, ref };
}

describe("operations of the lead only (protocol.md sections 2, 4, 6 and 8)", () => {
  it.each<[string, string, readonly string[], Call?]>([
    [
      "spawns a teammate",
      "NESTED_TEAM",
      ["spawn", "kid"],
      { tool: "Agent", input: { name: "kid", prompt: "p" } },
    ],
    ["creates a team", "NESTED_TEAM", ["create", "other"]],
    ["starts a run", "NESTED_TEAM", ["run", "a goal"]],
    ["deletes the team", "NOT_LEAD", ["delete", "crew", "--force"]],
    [
      "requests a shutdown",
      "NOT_LEAD",
      ["shutdown", "zoe"],
      send({ type: "shutdown_request", recipient: "zoe", content: "end" }),
    ],
    ["requests a shutdown of all", "NOT_LEAD", ["shutdown", "--all"]],
    [
      "approves a plan",
      "NOT_LEAD",
      ["approve", PLAN],
      send({ type: "plan_approval_response", request_id: PLAN, approve: true, recipient: "zoe" }),
    ],
    [
      "rejects a plan",
      "NOT_LEAD",
      ["reject", PLAN, "--note", "no"],
      send({
        type: "plan_approval_response",
        request_id: PLAN,
        approve: false,
        recipient: "zoe",
        content: "no",
      }),
    ],
    ["allows another member's permission request", "NOT_LEAD", ["approve", `perm-${AT}-abcdefg`]],
    ["denies another member's permission request", "NOT_LEAD", ["reject", `perm-${AT}-abcdefg`]],
    ["answers another member's question", "NOT_LEAD", ["approve", `question-${AT}@zoe`, "--note", "42"]],
    ["interrupts a turn", "NOT_LEAD", ["interrupt", "zoe"]],
    ["sets another member's mode", "NOT_LEAD", ["mode", "zoe", "plan"]],
    ["sets its own mode", "NOT_LEAD", ["mode", "dev", "bypassPermissions"]],
    ["raises a budget", "NOT_LEAD", ["budget", "zoe", "--max-tokens", "1000"]],
    ["kills a member", "NOT_LEAD", ["kill", "zoe", "--force"]],
    ["kills the team", "NOT_LEAD", ["kill", "crew", "--force"]],
    ["takes the team down", "NOT_LEAD", ["down", "crew"]],
    ["resumes the team", "NOT_LEAD", ["resume", "crew"]],
    ["marks the lead's messages as read", "NOT_LEAD", ["inbox", LEAD_NAME, "--mark-read"]],
  ])(
    "a teammate that %s gets %s, by command and by tool, and nothing changes",
    async (_, code, words, call) => {
      const { cli, ref } = await world();
      const before = await everythingOf(ref);
      const env = { TEAMS_AGENT: "dev@crew" };
      const refused = await cli([...words, "--json"], { env });
      expect([refused.code, refused.error().code]).toEqual([1, code]);
      const asAnother = await cli([...words, "--json", "--as", LEAD_NAME], { env });
      expect(asAnother.code).not.toBe(0);
      expect(["NOT_LEAD", "NESTED_TEAM", "INVALID_INPUT"]).toContain(asAnother.error().code);
      expect(await everythingOf(ref)).toEqual(before);
      if (call === undefined) return;
      const dev = await memberTools(ref, "dev");
      const beforeTool = await everythingOf(ref);
      expect(await dev.data(call.tool, call.input)).toMatchObject({ success: false, code });
      expect(await everythingOf(ref)).toEqual(beforeTool);
    },
  );

  it("a teammate cannot reopen a completed task, but the lead can", async () => {
    const { cli, ref } = await world();
    const refused = await cli(["task", "update", "1", "--status", "pending", "--json"], {
      env: { TEAMS_AGENT: "dev@crew" },
    });
    const dev = await memberTools(ref, "dev");
    const byTool = await dev.data("TaskUpdate", { taskId: "1", status: "pending" });
    expect([refused.error().code, byTool.code]).toEqual(["TASK_RESOLVED", "TASK_RESOLVED"]);
    expect(getTask(ref, "1").status).toBe("completed");
    expect((await cli(["task", "update", "1", "--status", "pending"])).code).toBe(0);
  });
});

describe("the same error by command and by the lead agent's tool", () => {
  it.each<[string, string, readonly string[], Call]>([
    [
      "a name with @",
      "INVALID_NAME",
      ["spawn", "a@b"],
      { tool: "Agent", input: { name: "a@b", prompt: "p" } },
    ],
    [
      "a reserved name",
      "INVALID_NAME",
      ["spawn", "system"],
      { tool: "Agent", input: { name: "system", prompt: "p" } },
    ],
    [
      "an unknown type",
      "INVALID_TYPE",
      ["spawn", "kid", "--agent-type", "wizard"],
      { tool: "Agent", input: { name: "kid", prompt: "p", subagent_type: "wizard" } },
    ],
    [
      "an invalid model name",
      "INVALID_MODEL",
      ["spawn", "kid", "--model", "no model"],
      { tool: "Agent", input: { name: "kid", prompt: "p", model: "no model" } },
    ],
    [
      "a misspelt recipient",
      "RECIPIENT_NOT_FOUND",
      ["send", "zoo", "hi"],
      send({ type: "message", recipient: "zoo", content: "hi" }),
    ],
    [
      "a former member as recipient",
      "RECIPIENT_INACTIVE",
      ["send", "old", "hi"],
      send({ type: "message", recipient: "old", content: "hi" }),
    ],
    [
      "a shutdown of an unknown member",
      "AGENT_NOT_FOUND",
      ["shutdown", "zoo"],
      send({ type: "shutdown_request", recipient: "zoo" }),
    ],
    [
      "a shutdown of the lead",
      "INVALID_INPUT",
      ["shutdown", LEAD_NAME],
      send({ type: "shutdown_request", recipient: LEAD_NAME }),
    ],
    [
      "an answer to an unknown plan",
      "REQUEST_NOT_FOUND",
      ["approve", "plan_approval-1@zoe@crew"],
      send({
        type: "plan_approval_response",
        request_id: "plan_approval-1@zoe@crew",
        approve: true,
        recipient: "zoe",
      }),
    ],
    [
      "deleting a team with active members",
      "ACTIVE_MEMBERS",
      ["delete", "crew"],
      { tool: "TeamDelete", input: {} },
    ],
    ["an unknown task", "TASK_NOT_FOUND", ["task", "show", "9"], { tool: "TaskGet", input: { taskId: "9" } }],
    [
      "a task that blocks itself",
      "CYCLE",
      ["task", "dep", "2", "2"],
      { tool: "TaskUpdate", input: { taskId: "2", addBlockedBy: ["2"] } },
    ],
    [
      "a dependency on an unknown task",
      "TASK_NOT_FOUND",
      ["task", "dep", "2", "9"],
      { tool: "TaskUpdate", input: { taskId: "2", addBlockedBy: ["9"] } },
    ],
    [
      "starting a blocked task",
      "TASK_BLOCKED",
      ["task", "update", "3", "--status", "in_progress"],
      { tool: "TaskUpdate", input: { taskId: "3", status: "in_progress" } },
    ],
    [
      "an unknown task owner",
      "AGENT_NOT_FOUND",
      ["task", "update", "2", "--owner", "zoo"],
      { tool: "TaskUpdate", input: { taskId: "2", owner: "zoo" } },
    ],
  ])("for %s: %s", async (_, code, words, { tool, input }) => {
    const { cli, ref } = await world();
    await addTask(ref, LEAD_NAME, { subject: "two", description: "" });
    await addTask(ref, LEAD_NAME, { subject: "three", description: "" });
    await updateTask(ref, LEAD_NAME, "3", { addBlockedBy: ["2"] });
    const lead = await memberTools(ref, LEAD_NAME);
    const before = await everythingOf(ref);
    const byCommand = (await cli([...words, "--json"])).error().code;
    const { code: byTool } = await lead.data(tool, input);
    expect({ byCommand, byTool }).toEqual({ byCommand: code, byTool: code });
    expect(await everythingOf(ref)).toEqual(before);
  });

  it("except for a taken name: the spawn command refuses it", async () => {
    const { cli } = await world();
    expect((await cli(["spawn", "Zoe", "--json"])).error().code).toBe("DUPLICATE_NAME");
  });
});

async function everythingOf(ref: TeamRef): Promise<object> {
  const names = [LEAD_NAME, "dev", "zoe"];
  const { members, former } = readTeam(ref);
  return {
    members: members.map(({ isActive: _turn, ...one }) => one),
    former,
    requests: listRequests(ref),
    mail: await Promise.all(names.map((name) => history(ref, name, { all: true }))),
  };
}
