import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { answerApproval, listApprovals } from "../../../../src/operations/approvals/approvals.ts";
import { requestShutdown } from "../../../../src/operations/ending/shutdown.ts";
import { formatProtocol } from "../../../../src/protocol/messages.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import type { PlaybookTurn } from "../../../../src/schema/playbook.ts";
import { unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { readStatus } from "../../../../src/team/records/read-records.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { answerRequest } from "../../../../src/team/requests/requests.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { contextOf, type RunningWorker, type WorkerInput } from "../../../support/worker/start-worker.ts";
import { workerOfTest } from "../../../support/worker/test-worker.ts";

const send = (ref: TeamRef, text: string) => sendMessage(ref, { from: LEAD_NAME, to: "dev", text });
const stateOf = (ref: TeamRef) => readStatus(ref, "dev")?.state;
const idle = (ref: TeamRef) => eventually("idle", () => stateOf(ref) === "idle");
const touch = (path: string) => ({ name: "Bash", input: { command: `touch ${path}` } });
const agent = (input: object) => ({ name: "Agent", input: { description: "look", ...input } });
const results = ({ messages }: RunningWorker): string[] =>
  messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === "tool_result" ? [block.content] : [])),
  );

async function begin(input: WorkerInput) {
  const ref = await testTeam(["dev"]);
  const dev = await workerOfTest(ref, { mode: "default", ...input });
  await send(ref, "begin");
  const asked = (count = 1) =>
    eventually("the request", () => {
      const open = listApprovals(ref);
      return open.length === count && open;
    });
  const made = (name: string) => existsSync(join(dev.cwd, name));
  return { ref, dev, asked, made };
}

describe("line typed during a permission request", () => {
  it.each([
    "a different command would be better",
    "A note: do not",
    "y not use npm?",
    "n 2 files, or 3?",
    "always use npm",
    "yesterday it worked",
    "nothing else?",
  ])("treats %j as a message, not as an answer", async (line) => {
    const { ref, dev, asked, made } = await begin({ turns: [{ tools: [touch("made")] }, { say: "ok" }] });
    await asked();
    await dev.worker.handleTypedLine(line);
    expect(listApprovals(ref)).toHaveLength(1);
    expect(dev.worker.permissionRequests.sessionRules).toEqual([]);
    await dev.worker.handleTypedLine("n");
    await eventually("its turn", () => dev.inputs[1]?.includes(line));
    expect(made("made")).toBe(false);
  });
});

describe("parallel permission requests", () => {
  const turns = [
    {
      tools: [
        agent({ prompt: "1", subagent_type: "engineer" }),
        agent({ prompt: "2", subagent_type: "tester" }),
      ],
    },
    { say: "done" },
  ];
  const subagents = { engineer: [{ tools: [touch("one")] }], tester: [{ tools: [touch("two")] }] };

  it("keep the state needs-input until the last one is answered (S63)", async () => {
    const { ref, dev, asked } = await begin({ turns, subagents });
    await asked(2);
    await dev.worker.handleTypedLine("y");
    const [other] = await asked();
    await eventually(
      "the activity of the other request",
      () => readStatus(ref, "dev")?.activity === `asks: ${other?.summary}`,
    );
    expect(stateOf(ref)).toBe("needs-input");
    await dev.worker.handleTypedLine("n");
    await idle(ref);
    expect(results(dev)).toHaveLength(2);
  });

  it("of a background subagent set an idle member to needs-input (S63)", async () => {
    const go = join(temporaryDirectory(), "go");
    const command = `until [ -e '${go}' ]; do sleep 0.02; done`;
    const { ref, dev, asked, made } = await begin({
      settings: { hooks: { PreToolUse: [{ matcher: "Glob", hooks: [{ type: "command", command }] }] } },
      turns: [
        { tools: [agent({ prompt: "x", run_in_background: true })] },
        { say: "begun" },
        { on: { contains: "task_notification" }, say: "it has ended" },
      ],
      subagents: {
        "general-purpose": [
          { tools: [{ name: "Glob", input: { pattern: "*" } }] },
          { tools: [touch("made")] },
          { say: "ok" },
        ],
      },
    });
    await eventually("the first turn's end", () => dev.worker.lastText === "begun");
    await idle(ref);
    writeFileSync(go, "");
    await asked();
    await eventually("its state", () => stateOf(ref) === "needs-input");
    await dev.worker.handleTypedLine("y");
    await eventually("the end of the background subagent", () => dev.worker.lastText === "it has ended");
    await idle(ref);
    expect(made("made")).toBe(true);
  });
});

describe("permission answer with an updated input (interop.md)", () => {
  const turns = [{ tools: [touch("asked-for")] }, { say: "done" }];
  const answered = async (updated: object, input: WorkerInput = {}) => {
    const { ref, dev, asked, made } = await begin({ turns, ...input });
    const [open] = await asked();
    const response = { updated_input: updated, permission_updates: [] };
    const message = {
      type: "permission_response",
      request_id: open?.id,
      subtype: "success",
      response,
    } as const;
    await send(ref, formatProtocol(message, new Date(0)));
    await idle(ref);
    return { result: results(dev)[0] ?? "", made };
  };

  it("runs the updated call instead, and tells the model", async () => {
    const { result, made } = await answered({ command: "touch allowed" });
    expect([made("asked-for"), made("allowed")]).toEqual([false, true]);
    expect(result).toContain(
      'The call was changed when it was allowed; it ran with {"command":"touch allowed"}',
    );
  });

  it("runs the requested call if the input is unchanged", async () => {
    const { result, made } = await answered({ command: "touch asked-for" });
    expect(made("asked-for")).toBe(true);
    expect(result).not.toContain("changed");
  });

  it("runs neither a denied nor an invalid updated call", async () => {
    const denied = await answered(
      { command: "touch denied" },
      { settings: { permissions: { deny: ["Bash(touch denied)"] } } },
    );
    expect(denied.made("denied")).toBe(false);
    expect(denied.result).toContain("was refused");
    const odd = await answered({ words: "touch odd" });
    expect(odd.result).toContain("a changed input that the tool does not accept");
    expect(odd.made("asked-for")).toBe(false);
  });
});

describe("request that could not be sent", () => {
  /** Blocks the lead's inbox; returns a function that restores it. */
  const blockLeadInbox = (ref: TeamRef) => {
    mkdirSync(ref.paths.inbox(LEAD_NAME), { recursive: true });
    return () => rmdirSync(ref.paths.inbox(LEAD_NAME));
  };
  const played = async (turn: PlaybookTurn, input: WorkerInput = {}) => {
    const ref = await testTeam(["dev"]);
    const dev = await workerOfTest(ref, {
      mode: "bypassPermissions",
      turns: [turn, { say: "it failed" }, turn, { say: "again" }],
      ...input,
    });
    const restore = blockLeadInbox(ref);
    return { ref, dev, restore };
  };
  const typesToLead = async (ref: TeamRef) =>
    (await unreadMessages(ref, LEAD_NAME)).flatMap(({ protocol }) =>
      protocol === undefined ? [] : [protocol.type],
    );

  it("leaves no open question, and the question can be asked again", async () => {
    const ask: PlaybookTurn = { tools: [{ name: "AskUserQuestion", input: { question: "Tabs?" } }] };
    const { ref, dev, restore } = await played(ask);
    await dev.worker.handleTypedLine("begin");
    await eventually("the failure", () => dev.worker.lastText === "it failed");
    expect(listApprovals(ref)).toEqual([]);
    restore();
    await dev.worker.handleTypedLine("again");
    await eventually("the second attempt", () => dev.worker.lastText === "again");
    expect(listApprovals(ref)).toHaveLength(1);
    expect(await typesToLead(ref)).toContain("question_request");
  });

  it("fails the tool call with the reason and leaves no open permission request (S61)", async () => {
    const { ref, dev, restore } = await played({ tools: [touch("made")] }, { mode: "default" });
    await dev.worker.handleTypedLine("begin");
    await eventually("the failure", () => dev.worker.lastText === "it failed");
    expect([listApprovals(ref), existsSync(join(dev.cwd, "made"))]).toEqual([[], false]);
    expect(results(dev)[0]).toContain("cannot be written");
    restore();
    await dev.worker.handleTypedLine("again");
    await eventually("the second attempt", () => listApprovals(ref).length === 1);
    expect(await typesToLead(ref)).toContain("permission_request");
  });

  it("keeps the member in plan mode, and the plan can be sent again (S64)", async () => {
    const ref = await testTeam(["dev"]);
    const plan = { name: "Write", input: { file_path: "{{plan_file}}", content: "my plan" } };
    const exit = { name: "ExitPlanMode", input: {} };
    const dev = await workerOfTest(ref, {
      mode: "plan",
      turns: [{ tools: [plan, exit] }, { say: "it failed" }, { tools: [exit] }],
    });
    const restore = blockLeadInbox(ref);
    await dev.worker.handleTypedLine("begin");
    await eventually("the failure", () => dev.worker.lastText === "it failed");
    expect([listApprovals(ref), dev.worker.planApproval.isWaiting]).toEqual([[], false]);
    restore();
    await dev.worker.handleTypedLine("again");
    await eventually("its state", () => stateOf(ref) === "awaiting-approval");
    expect(await typesToLead(ref)).toContain("plan_approval_request");
  });

  it("leaves a shutdown request open if the response could not be sent", async () => {
    const yes = { type: "shutdown_response", request_id: "{{request_id}}", approve: true };
    const { ref, dev, restore } = await played({ tools: [{ name: "SendMessage", input: yes }] });
    const ids = await requestShutdown(contextOf(ref), ["dev"]);
    await eventually("the failure", () => dev.worker.lastText === "it failed");
    expect(dev.worker.shutdownRequests.isOpen(ids.get("dev") ?? "")).toBe(true);
    restore();
    await send(ref, "and now?");
    expect(await dev.ended).toBe("shutdown");
    expect(await typesToLead(ref)).toContain("shutdown_approved");
  });
});

describe("answer recorded but not sent", () => {
  const asLead = { approve: true, note: "go", by: LEAD_NAME, at: 0 };

  it("allows the tool call at the next wakeup", async () => {
    const { ref, dev, asked, made } = await begin({ turns: [{ tools: [touch("made")] }, { say: "ok" }] });
    const [open] = await asked();
    await answerRequest(ref, open?.id ?? "", asLead);
    // Any bell triggers this, and so does the slow check.
    await send(ref, "by the way");
    await eventually("the call", () => made("made"));
    await eventually("its note", () => results(dev)[0]?.includes("go"));
  });

  it("of a plan is sent once by the next command that answers", async () => {
    const ref = await testTeam(["dev"]);
    const plan = { name: "Write", input: { file_path: "{{plan_file}}", content: "my plan" } };
    const dev = await workerOfTest(ref, {
      mode: "plan",
      turns: [{ tools: [plan, { name: "ExitPlanMode", input: {} }] }, { say: "I work" }],
    });
    await dev.worker.handleTypedLine("begin");
    const open = await eventually("the plan", () => listApprovals(ref)[0]);
    await answerRequest(ref, open.id, asLead);
    for (let i = 0; i < 2; i += 1) {
      const again = answerApproval(contextOf(ref), open.id, { approve: false, note: "no" });
      await expect(again).rejects.toMatchObject({ code: i === 0 ? "ALREADY_ANSWERED" : expect.any(String) });
    }
    await eventually("its work", () => dev.worker.lastText === "I work");
    expect(dev.inputs[1]).toContain("is approved: go");
    expect(dev.inputs).toHaveLength(2);
  });

  it("of a plan has no effect after a mode change has ended plan mode", async () => {
    const ref = await testTeam(["dev"]);
    const plan = { name: "Write", input: { file_path: "{{plan_file}}", content: "my plan" } };
    const dev = await workerOfTest(ref, {
      mode: "plan",
      modeAfterPlan: "default",
      turns: [{ tools: [plan, { name: "ExitPlanMode", input: {} }] }, { say: "I work" }, { say: "again" }],
    });
    await dev.worker.handleTypedLine("begin");
    const open = await eventually("the plan", () => listApprovals(ref)[0]);
    await eventually("its state", () => stateOf(ref) === "awaiting-approval");
    const mode = { type: "mode_set_request", mode: "acceptEdits", from: LEAD_NAME } as const;
    await send(ref, formatProtocol(mode, new Date(0)));
    await eventually("its work", () => dev.worker.lastText === "I work");
    expect(dev.inputs[1]).toContain("your plan no longer needs approval");
    expect(listApprovals(ref)).toEqual([]);
    const late = { type: "plan_approval_response", requestId: open.id, approved: true } as const;
    await send(ref, formatProtocol(late, new Date(0)));
    await send(ref, "hello");
    await eventually("the next turn", () => dev.worker.lastText === "again");
    expect([dev.worker.planApproval.mode, dev.inputs.length]).toEqual(["acceptEdits", 3]);
  });
});
