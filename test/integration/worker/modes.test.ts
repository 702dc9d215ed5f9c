import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { answerApproval, listApprovals } from "../../../src/operations/approvals/approvals.ts";
import { setPermissionMode } from "../../../src/operations/permission-mode.ts";
import { teamStatus } from "../../../src/operations/status.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import type { PermissionMode } from "../../../src/schema/permission-modes.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { testTeam } from "../../support/team/test-team.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { contextOf, type WorkerInput } from "../../support/worker/start-worker.ts";
import { workerOfTest } from "../../support/worker/test-worker.ts";

async function working(input: WorkerInput) {
  const ref = await testTeam(["dev"]);
  const dev = await workerOfTest(ref, input);
  await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "begin" });
  return { ref, dev, made: (name: string) => existsSync(join(dev.cwd, name)) };
}

const bash = (command: string) => ({ name: "Bash", input: { command } });
const changeMode = (ref: TeamRef, mode: PermissionMode) =>
  setPermissionMode(contextOf(ref), "dev", mode, { decider: "person", forbidden: undefined });
const isIdle = (ref: TeamRef) => readStatus(ref, "dev")?.state === "idle";

describe("permission mode of a running member", () => {
  it("can change during a turn and applies to the following calls", async () => {
    const { ref, dev, made } = await working({
      mode: "bypassPermissions",
      turns: [{ tools: [bash("touch begun; until [ -e go ]; do sleep 0.02; done"), bash("touch ran")] }],
    });
    await eventually("the first call", () => made("begun"));
    await changeMode(ref, "plan");
    await eventually("its note", () => dev.shown.includes("note: permission mode is now plan"));
    writeFileSync(join(dev.cwd, "go"), "");
    await eventually("the end", () => isIdle(ref));
    expect(made("ran")).toBe(false);
  });

  it("applies to the calls of later turns", async () => {
    const { ref, dev, made } = await working({
      mode: "plan",
      turns: [{ say: "planning" }, { tools: [bash("touch ran")] }],
    });
    await eventually("the first turn", () => dev.inputs.length === 1 && isIdle(ref));
    await changeMode(ref, "bypassPermissions");
    await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "go on" });
    await eventually("the call", () => made("ran"));
    expect(listApprovals(ref)).toEqual([]);
  });

  it.each<[PermissionMode, boolean]>([
    ["bypassPermissions", true],
    ["plan", false],
  ])("decides an open permission request when it changes to %s", async (mode, runs) => {
    const { ref, dev, made } = await working({
      mode: "default",
      turns: [{ tools: [bash("touch ran")] }, { say: "ok" }],
    });
    const { id } = await eventually("the request", () => listApprovals(ref)[0]);
    await changeMode(ref, mode);
    await eventually("the end", () => dev.inputs.length === 1 && isIdle(ref));
    expect([made("ran"), listApprovals(ref)]).toEqual([runs, []]);
    await expect(answerApproval(contextOf(ref), id, { approve: true })).rejects.toMatchObject({
      code: "ALREADY_ANSWERED",
    });
  });

  const write = { name: "Write", input: { file_path: "{{plan_file}}", content: "# It" } };
  const planned = [{ tools: [write] }, { tools: [{ name: "ExitPlanMode", input: {} }] }, { say: "begun" }];

  it("returns to the mode before planning when the plan is approved (S64)", async () => {
    const { ref, dev } = await working({ mode: "bypassPermissions", turns: [{ say: "ready" }, ...planned] });
    await eventually("the first turn", () => dev.inputs.length === 1 && isIdle(ref));
    await changeMode(ref, "acceptEdits");
    await changeMode(ref, "plan");
    await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "plan it" });
    const { id } = await eventually("the plan", () => listApprovals(ref)[0]);
    await answerApproval(contextOf(ref), id, { approve: true });
    await eventually("the work", () => dev.inputs.length === 3 && isIdle(ref));
    expect(dev.worker.planApproval.mode).toBe("acceptEdits");
  });

  it("is shown in the status while planning and after each approval", async () => {
    const { ref, dev } = await working({
      mode: "bypassPermissions",
      turns: [{ say: "ready" }, ...planned, ...planned],
    });
    const shown = async () =>
      (await teamStatus(contextOf(ref))).members.find(({ name }) => name === "dev")?.mode;
    const approvedIn = async (mode?: PermissionMode): Promise<void> => {
      const { id } = await eventually("the plan", () => listApprovals(ref)[0]);
      expect(await shown()).toBe("plan");
      const turns = dev.inputs.length + 1;
      await answerApproval(contextOf(ref), id, { approve: true, ...(mode && { mode }) });
      await eventually("the work", () => dev.inputs.length === turns && isIdle(ref));
    };
    await eventually("the first turn", () => dev.inputs.length === 1 && isIdle(ref));
    await changeMode(ref, "plan");
    await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "plan it" });
    // The approval restores the spawn mode; no granted mode is recorded for the next process.
    await approvedIn();
    expect(await shown()).toBe("bypassPermissions");
    await changeMode(ref, "plan");
    await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "plan more" });
    await approvedIn("acceptEdits");
    expect(await shown()).toBe("acceptEdits");
  });

  it("queues a line typed during a plan approval, and says how to answer the plan (S64)", async () => {
    const { ref, dev } = await working({ mode: "plan", turns: [...planned, { say: "heard" }] });
    const { id } = await eventually("the plan", () => listApprovals(ref)[0]);
    await eventually("the turn's end", () => dev.shown.includes("turn_ended"));
    await dev.worker.handleTypedLine("hurry");
    const kept = `note: kept until the plan is answered: teams approve ${id}, or teams reject ${id} --note "…"`;
    await eventually("the pane's note", () => dev.shown.includes(kept));
    await answerApproval(contextOf(ref), id, { approve: true });
    await eventually("the line's turn", () => dev.inputs.some((input) => input.includes("hurry")));
  });

  it("leaves a request open if neither the new mode nor a new rule decides it", async () => {
    const { ref, dev, made } = await working({
      mode: "default",
      turns: [{ tools: [bash("touch ran")] }, { say: "ok" }],
    });
    await eventually("the request", () => listApprovals(ref).length === 1);
    await changeMode(ref, "acceptEdits");
    const update = (rule: string) =>
      JSON.stringify({
        type: "team_permission_update",
        permissionUpdate: { type: "addRules", rules: [rule], behavior: "allow", destination: "session" },
      });
    await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: update("Bash(ls:*)") });
    await eventually("the new mode and rule", () => dev.worker.permissionRequests.sessionRules.length === 1);
    expect([made("ran"), listApprovals(ref).length]).toEqual([false, 1]);
    await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: update("Bash(touch:*)") });
    await eventually("the end", () => isIdle(ref) && made("ran"));
    expect(listApprovals(ref)).toEqual([]);
  });

  it("is never bypassPermissions if the settings forbid it", async () => {
    const { ref, dev, made } = await working({
      mode: "bypassPermissions",
      settings: { permissions: { disableBypassPermissionsMode: "disable" } },
      turns: [{ tools: [bash("touch ran")] }],
    });
    await eventually("the request", () => listApprovals(ref).length === 1);
    await changeMode(ref, "bypassPermissions");
    await eventually("its note", () =>
      dev.shown.some((line) =>
        /bypassPermissions is forbidden by permissions\.disableBypass.*not changed/.test(line),
      ),
    );
    expect([made("ran"), dev.worker.planApproval.mode]).toEqual([false, "default"]);
  });

  it("allows reading additional directories, given relative to the home or the working directory", async () => {
    const read = (file_path: string) => ({ name: "Read", input: { file_path } });
    const { ref, dev } = await working({
      mode: "dontAsk",
      settings: { permissions: { additionalDirectories: ["~/notes", "../beside"] } },
      turns: [{ tools: [read("~/notes/a"), read("../beside/b"), read("../else/c")] }, { say: "ok" }],
    });
    await eventually("the end", () => dev.inputs.length === 1 && isIdle(ref));
    const results = dev.messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === "tool_result" ? [block.content] : [])),
    );
    expect(results.map((text) => text.includes("was refused"))).toEqual([false, false, true]);
  });

  it("can be set by the lead only", async () => {
    const { ref, dev } = await working({ mode: "default", turns: [{ say: "ok", repeat: true }] });
    const text = JSON.stringify({ type: "mode_set_request", mode: "bypassPermissions", from: "dev" });
    await sendMessage(ref, { from: "dev", to: "dev", text });
    await eventually("its turn", () => dev.inputs.join().includes("mode_set_request") && isIdle(ref));
    expect(dev.worker.planApproval.mode).toBe("default");
  });
});
