import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { answerApproval, listApprovals } from "../../../src/operations/approvals/approvals.ts";
import { budget } from "../../../src/operations/budget.ts";
import { setPermissionMode } from "../../../src/operations/permission-mode.ts";
import { downTeam } from "../../../src/operations/resume/down.ts";
import { resumeTeam } from "../../../src/operations/resume/resume.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import type { PlaybookTurn } from "../../../src/schema/playbook.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import { TYPED_MARK } from "../../../src/worker/turn/turn-input.ts";
import { PLACES, supervisedTeam } from "../../support/team/supervised-team.ts";
import { eventually } from "../../support/timing/eventually.ts";

const bash = (command: string): PlaybookTurn => ({ tools: [{ name: "Bash", input: { command } }] });
const tellsLead = (content: string): PlaybookTurn => ({
  tools: [
    { name: "SendMessage", input: { type: "message", recipient: LEAD_NAME, content, summary: "tells" } },
  ],
});
/** Plays this turn for a message that contains a text; an unmatched message ends the turn. */
const onMessage = (contains: string, turn: PlaybookTurn): PlaybookTurn => ({ on: { contains }, ...turn });

describe.each(PLACES)("turns of teammates in %s", (place) => {
  it("wait for the answer to a question, which becomes the next turn (S63)", async () => {
    const ask = { name: "AskUserQuestion", input: { question: "Which of the two?" } };
    const team = await supervisedTeam(place, {
      bob: [{ tools: [ask] }, onMessage("the second", tellsLead("it is the second"))],
    });
    await team.spawn({ name: "bob", prompt: "Begin." });
    const asked = await eventually("the question", () => listApprovals(team.ref)[0]);
    expect(asked).toMatchObject({ kind: "question", from: "bob", summary: "Which of the two?" });
    await eventually("bob's state", () => readStatus(team.ref, "bob")?.state === "needs-input");
    await answerApproval(team.ctx, asked.id, { approve: true, note: "the second" });
    await eventually("the answer", async () => (await team.inbox()).includes("it is the second"));
    await team.idle("bob");
  });

  it("continue with a pending permission request when the mode changes", async () => {
    const team = await supervisedTeam(
      place,
      { bob: [bash("touch made"), { say: "Made." }] },
      { mode: "default" },
    );
    await team.spawn({ name: "bob", prompt: "Begin." });
    await eventually("the request", () => listApprovals(team.ref)[0]);
    const how = { decider: "person", forbidden: undefined } as const;
    await setPermissionMode(team.ctx, "bob", "bypassPermissions", how);
    await eventually("bob's command", () => existsSync(join(team.t.home, "made")));
    await team.idle("bob");
    expect(listApprovals(team.ref)).toEqual([]);
  });

  it("continue after a TeammateIdle hook, once per idle period and under the right name (S65)", async () => {
    const team = await supervisedTeam(place, {
      bob: [{ say: "Done." }, onMessage("sum it up", tellsLead("the sum of it"))],
    });
    const command = `cat > rests.json; test -e asked || { touch asked; echo "sum it up" >&2; exit 2; }`;
    const hooks = { TeammateIdle: [{ hooks: [{ type: "command", command }] }] };
    writeFileSync(join(team.t.root, "settings.json"), JSON.stringify({ hooks }));
    await team.spawn({ name: "bob", prompt: "Begin." });
    await eventually("the answer to the hook", async () => (await team.inbox()).includes("the sum of it"));
    await team.idle("bob");
    const seen = JSON.parse(readFileSync(join(team.t.home, "rests.json"), "utf8")) as object;
    expect(seen).toMatchObject({ hook_event_name: "TeammateIdle", teammate_name: "bob", team_name: "crew" });
    const notices = (await team.inbox()).filter((text) => text.includes("idle_notification"));
    expect(notices).toHaveLength(1);
  });

  it("run subagents, and receive their results", async () => {
    const look = { prompt: "Look.", description: "looks", subagent_type: "Explore" };
    const team = await supervisedTeam(place, {
      bob: [
        { tools: [{ name: "Agent", input: look }] },
        onMessage("seen by another", tellsLead("another has seen it")),
      ],
      Explore: [{ say: "It was seen by another." }],
    });
    await team.spawn({ name: "bob", prompt: "Begin." });
    await eventually("the result", async () => (await team.inbox()).includes("another has seen it"));
  });

  it("wait while the budget is spent, and continue when it is raised", async () => {
    const team = await supervisedTeam(place, {
      bob: [
        { say: "Dear.", usage: { input: 900, output: 100 } },
        onMessage("second", tellsLead("there is more")),
      ],
    });
    await team.spawn("bob");
    const costs = { isPriced: () => true, reportsOf: () => undefined };
    await budget(team.ctx, "bob", { maxTokens: 500 }, costs);
    await team.send("bob", "The first.");
    await eventually("the first turn", () => (readStatus(team.ref, "bob")?.tokens.output ?? 0) > 0);
    await team.send("bob", "The second.");
    await eventually("bob's pause", () => readStatus(team.ref, "bob")?.state === "paused");
    expect(await team.inbox()).not.toContain("there is more");
    await budget(team.ctx, "bob", { maxTokens: 100_000 }, costs);
    await eventually("the second turn", async () => (await team.inbox()).includes("there is more"));
  });

  it("begin with text that the user types, marked as typed", async () => {
    const team = await supervisedTeam(place, { bob: [onMessage("is it now", tellsLead("it is noon"))] });
    await team.spawn("bob");
    await team.idle("bob");
    await team.type("bob", "what is it now?");
    await eventually("the answer", async () => (await team.inbox()).includes("it is noon"));
    const conversation = readFileSync(readStatus(team.ref, "bob")?.transcript ?? "", "utf8");
    expect(conversation).toContain(JSON.stringify(`${TYPED_MARK}what is it now?`));
  });

  it("continue the same conversation after down and resume", async () => {
    const team = await supervisedTeam(place, {
      bob: [{ say: "The word is plover." }, onMessage("the word", tellsLead("I still know it"))],
    });
    await team.spawn({ name: "bob", prompt: "Begin." });
    await team.idle("bob");
    const sessionId = readStatus(team.ref, "bob")?.sessionId;
    expect(await downTeam(team.ctx, { timeoutMs: 180_000 })).toMatchObject([
      { name: "bob", outcome: "approved" },
    ]);
    await team.send("bob", "What was the word?");
    const { members } = await resumeTeam(team.ctx, { command: "run" });
    expect(members).toMatchObject([{ name: "bob", outcome: "restarted", conversation: sessionId }]);
    await eventually("the answer", async () => (await team.inbox()).includes("I still know it"));
    expect(readStatus(team.ref, "bob")?.sessionId).toBe(sessionId);
  });
});
