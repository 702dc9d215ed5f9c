import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { anthropicModel } from "../../../../src/agent/model/anthropic.ts";
import { modelFacts } from "../../../../src/agent/model/catalog.ts";
import { budget } from "../../../../src/operations/budget.ts";
import { removeEndedMember } from "../../../../src/operations/ending/remove-member.ts";
import { interruptAgent } from "../../../../src/operations/interrupt.ts";
import { formatProtocol } from "../../../../src/protocol/messages.ts";
import type { BudgetLimits } from "../../../../src/schema/budget.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import type { PlaybookTurn } from "../../../../src/schema/playbook.ts";
import { readTeam } from "../../../../src/team/config/config.ts";
import { history } from "../../../../src/team/mailbox/history.ts";
import { unreadCount } from "../../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { setLimits, spentByTeam } from "../../../../src/team/members/budget.ts";
import { addMembers } from "../../../../src/team/members/members.ts";
import { readStatus } from "../../../../src/team/records/read-records.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { BudgetWait } from "../../../../src/worker/gates/budget.ts";
import { startFakeMessagesApi } from "../../../support/model/fake-messages-api.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { noSlowCheck } from "../../../support/timing/no-slow-check.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";
import { workerOfTest } from "../../../support/worker/test-worker.ts";
import { workerContext } from "../../../support/worker/worker-context.ts";

const bash = (command: string) => ({ name: "Bash", input: { command } });
const turn = (tokens: number, more: Partial<PlaybookTurn>): PlaybookTurn => ({
  ...more,
  usage: { input: tokens, output: 0 },
});

const send = (ref: TeamRef, text: string, to = "dev") => sendMessage(ref, { from: LEAD_NAME, to, text });
const stateOf = (ref: TeamRef, name = "dev") => readStatus(ref, name)?.state;
const isIdle = (ref: TeamRef, name = "dev") => stateOf(ref, name) === "idle" && unreadCount(ref, name) === 0;
const isPaused = (ref: TeamRef, name = "dev") => stateOf(ref, name) === "paused";
const raise = (ref: TeamRef, name: string | undefined, limits: BudgetLimits) =>
  budget(contextOf(ref), name, limits, { isPriced: () => true, reportsOf: () => undefined });
const notices = async (ref: TeamRef) =>
  (await history(ref, LEAD_NAME, { all: true })).flatMap(({ from, text }) =>
    /budget/.test(text) && from !== LEAD_NAME ? [text] : [],
  );

describe("budget of a member", () => {
  it("warns at 80 %, and pauses the member between two calls at 100 % until it is raised", async () => {
    noSlowCheck();
    const ref = await testTeam(["dev"]);
    await setLimits(ref, "dev", { maxTokens: 1_000 });
    const notifiers: unknown[] = [];
    const dev = await workerOfTest(ref, {
      onWaiting: (_text, by) => notifiers.push(by),
      turns: [
        turn(850, { tools: [bash("touch first")] }),
        turn(200, { tools: [bash("touch second")] }),
        turn(10, { say: "all done" }),
        turn(10, { say: "and this" }),
      ],
    });
    const made = (name: string) => existsSync(join(dev.cwd, name));
    await send(ref, "begin");
    await eventually("the pause", () => isPaused(ref));
    expect([made("first"), made("second")]).toEqual([true, true]);
    expect(await notices(ref)).toEqual([
      "dev has used 85 % of its budget: 850 of 1,000 tokens.",
      expect.stringMatching(
        /^dev has used up its budget \(1,050 of 1,000 tokens\).*teams budget dev@crew --max-tokens/,
      ),
    ]);
    expect(dev.shown.filter((line) => line.startsWith("waiting: dev has used"))).toHaveLength(2);
    // A running lead notifies the user of the warning, which does not start a turn of the lead.
    expect(notifiers).toEqual(["lead", "person"]);
    await send(ref, "more");
    await eventually("the queued message", () => dev.shown.includes("queued team-lead"));
    // Every call that ran has its result in the conversation.
    expect(JSON.stringify(dev.messages.at(-1))).toContain("tool_result");
    expect(await raise(ref, "dev", { maxTokens: 5_000 })).toMatchObject({
      name: "dev",
      limits: { maxTokens: 5_000 },
      spent: { tokens: 1_050 },
    });
    await eventually("both turns", () => dev.inputs.length === 2 && isIdle(ref));
    const text = JSON.stringify(dev.messages);
    expect([text.includes("all done"), text.includes("and this")]).toEqual([true, true]);
    expect(await notices(ref)).toHaveLength(2);
  });

  it("lets the current turn end when it is used up; later messages wait unread", async () => {
    const ref = await testTeam(["dev"]);
    await setLimits(ref, "dev", { maxTokens: 100 });
    const dev = await workerOfTest(ref, { turns: [turn(100, { say: "one" }), turn(1, { say: "two" })] });
    await send(ref, "begin");
    await eventually("its idle state", () => isIdle(ref));
    expect(await notices(ref)).toEqual([
      expect.stringContaining("has used up its budget (100 of 100 tokens)"),
    ]);
    await send(ref, "again");
    await eventually("the pause", () => isPaused(ref));
    expect([dev.inputs.length, unreadCount(ref, "dev")]).toEqual([1, 1]);
    await raise(ref, "dev", { maxTokens: 101 });
    await eventually("the second turn", () => dev.inputs.length === 2 && isIdle(ref));
    expect(dev.shown).toContain("note: there is budget again");
  });

  it("applies to the next process, which continues after the finished call", async () => {
    const ref = await testTeam(["dev"]);
    await setLimits(ref, "dev", { maxTokens: 100 });
    const turns = [turn(100, { tools: [bash("echo x >> runs")] }), turn(5, { say: "the end" })];
    const before = await workerOfTest(ref, { turns });
    await send(ref, "begin");
    await eventually("the pause", () => isPaused(ref));
    await before.stop();
    const after = await workerOfTest(ref, { turns });
    await eventually("the pause", () => isPaused(ref));
    expect(readStatus(ref, "dev")?.tokens.input).toBe(100);
    await raise(ref, "dev", { maxTokens: 1_000 });
    await eventually("its idle state", () => isIdle(ref));
    const text = JSON.stringify(after.messages);
    expect(text).toContain("the end");
    expect(text).not.toContain("The agent was restarted before this call returned");
  });

  it("does not block the response to a shutdown request", async () => {
    const ref = await testTeam(["dev"]);
    await setLimits(ref, "dev", { maxTokens: 100 });
    const dev = await workerOfTest(ref, { turns: [turn(100, { tools: [bash("true")] })] });
    await send(ref, "begin");
    await eventually("the pause", () => isPaused(ref));
    const request = { type: "shutdown_request" as const, requestId: "shutdown-1@dev", from: LEAD_NAME };
    await send(ref, formatProtocol(request, new Date(0)));
    expect(await dev.ended).toBe("shutdown");
    expect(dev.shown).not.toContain("note: there is budget again");
  });

  it("does not block a shutdown response of the member's next process", async () => {
    const ref = await testTeam(["dev"]);
    await setLimits(ref, "dev", { maxTokens: 100 });
    const spends = turn(100, { tools: [bash("true")] });
    const hangs = { on: { contains: "Shutdown request" }, say: "half", delayMs: 600_000 };
    const first = await workerOfTest(ref, { turns: [spends, hangs] });
    await send(ref, "begin");
    await eventually("the pause", () => isPaused(ref));
    const request = { type: "shutdown_request" as const, requestId: "shutdown-1@dev", from: LEAD_NAME };
    await send(ref, formatProtocol(request, new Date(0)));
    await eventually("its turn", () => first.inputs.length === 2 && unreadCount(ref, "dev") === 0);
    expect(await first.stop()).toBe("stopped");
    const second = await workerOfTest(ref, { turns: [spends] });
    expect(await second.ended).toBe("shutdown");
  });

  it("does not block an interrupt", async () => {
    const ref = await testTeam(["dev"]);
    await setLimits(ref, "dev", { maxTokens: 100 });
    const dev = await workerOfTest(ref, {
      turns: [turn(100, { tools: [bash("true")] }), turn(1, { say: "no" })],
    });
    await send(ref, "begin");
    await eventually("the pause", () => isPaused(ref));
    expect(await interruptAgent(contextOf(ref), "dev", { timeoutMs: 180_000 })).toMatchObject({
      outcome: "interrupted",
    });
    await eventually("its idle state", () => isIdle(ref));
    expect(JSON.stringify(dev.messages)).not.toContain('"no"');
  });
});

describe("budget in dollars", () => {
  it("is checked against the cost of the tokens the server reports", async () => {
    const usage = { input_tokens: 400, output_tokens: 100 };
    const api = await startFakeMessagesApi(({ body }) => ({
      kind: "message",
      blocks:
        body.messages.length > 3
          ? [{ type: "text", text: "done" }]
          : [{ type: "tool_use", id: `t${body.messages.length}`, name: "Bash", input: { command: "true" } }],
      usage,
    }));
    onTestFinished(() => api.close());
    const ref = await testTeam(["dev"]);
    await setLimits(ref, "dev", { maxCostUsd: 1 });
    // Dollars for a million tokens: each call costs $0.50.
    const facts = modelFacts("m", { m: { input: 1_000, output: 1_000 } });
    const dev = await workerOfTest(ref, {
      model: anthropicModel({ model: "m", apiKey: "k", baseUrl: api.url, facts }),
    });
    await send(ref, "begin");
    await eventually("the pause", () => isPaused(ref));
    expect(await notices(ref)).toEqual([
      expect.stringMatching(/^dev has used up its budget \(\$1\.00 of \$1\.00\)/),
    ]);
    await raise(ref, "dev", { maxCostUsd: 1.6 });
    await eventually("its end", () => dev.worker.lastText === "done" && isIdle(ref));
    expect((await notices(ref)).at(-1)).toBe("dev has used 93 % of its budget: $1.50 of $1.60.");
  });
});

describe("budget of a team", () => {
  it("counts all members, including removed ones, and pauses each of them", async () => {
    const ref = await testTeam(["old", "dev", "rev"]);
    await setLimits(ref, undefined, { maxTokens: 1_000 });
    const old = await workerOfTest(ref, { name: "old", turns: [turn(600, { say: "bye" })] });
    await send(ref, "begin", "old");
    await eventually("its turn", () => old.inputs.length === 1 && isIdle(ref, "old"));
    await old.stop();
    await removeEndedMember(contextOf(ref), "old", "killed");
    expect(spentByTeam(ref, readTeam(ref))).toMatchObject({ tokens: 600 });
    await workerOfTest(ref, { turns: [turn(400, { tools: [bash("true")] }), turn(1, { say: "end" })] });
    const rev = await workerOfTest(ref, { name: "rev", turns: [turn(1, { say: "ok" })] });
    await send(ref, "begin");
    await eventually("the pause", () => isPaused(ref));
    await send(ref, "begin", "rev");
    await eventually("rev's pause", () => isPaused(ref, "rev"));
    expect(rev.inputs).toEqual([]);
    const used = (await notices(ref)).filter((text) => text.startsWith("The team"));
    expect(used).toEqual([
      expect.stringMatching(
        /^The team has used up its budget \(1,000 of 1,000 tokens\).*teams budget --team crew/,
      ),
    ]);
    await raise(ref, undefined, { maxTokens: 2_000 });
    await eventually("the idle state of both", () => isIdle(ref) && isIdle(ref, "rev"));
    expect(rev.inputs).toHaveLength(1);
  });

  it("counts the lead's spending in earlier sessions (S50)", async () => {
    const ref = await testTeam([]);
    await setLimits(ref, undefined, { maxTokens: 1_000 });
    const lead = (sessionId: string, tokens: number) =>
      workerOfTest(ref, {
        name: LEAD_NAME,
        role: "lead",
        sessionId,
        turns: [turn(tokens, { say: sessionId })],
      });
    const before = await lead("one", 900);
    await before.worker.handleTypedLine("begin");
    await eventually("its answer", () => before.worker.lastText === "one");
    await before.stop();
    const after = await lead("two", 150);
    await after.worker.handleTypedLine("begin");
    await eventually("its answer", () => after.worker.lastText === "two");
    expect(spentByTeam(ref, readTeam(ref))).toMatchObject({ tokens: 1_050 });
    await after.worker.handleTypedLine("and now");
    await eventually("the pause", () => isPaused(ref, LEAD_NAME));
  });

  it("warns the lead without starting a turn; the lead reads the warning with its next turn", async () => {
    const ref = await testTeam(["dev"]);
    await setLimits(ref, undefined, { maxTokens: 1_000 });
    const lead = await workerOfTest(ref, {
      name: LEAD_NAME,
      role: "lead",
      turns: [turn(850, { say: "the goal is reached" }), turn(1, { say: "and this" })],
    });
    await lead.worker.handleTypedLine("begin");
    const warning = "The team has used 85 % of its budget: 850 of 1,000 tokens.";
    await eventually("the warning", () => lead.shown.includes(`waiting: ${warning}`));
    // The message after the warning starts a turn, so the warning has been read too.
    await sendMessage(ref, { from: "dev", to: LEAD_NAME, text: "hello" });
    await eventually("the turn", () => lead.worker.lastText === "and this");
    expect(lead.inputs).toHaveLength(2);
    expect(lead.inputs[1]).toMatch(
      /^<teammate_message teammate_id="system">\nThe team has used 85 % .*\n<\/teammate_message>\n\n<teammate_message teammate_id="dev"/,
    );
    expect(lead.shown.filter((line) => line.includes(warning))).toEqual([
      `waiting: ${warning}`,
      `received system: ${warning}`,
    ]);
  });

  it("tells a lead that its team's budget was raised, and not that all members stop", async () => {
    const ref = await testTeam(["dev"]);
    await setLimits(ref, undefined, { maxTokens: 100 });
    const lead = await workerOfTest(ref, {
      name: LEAD_NAME,
      role: "lead",
      turns: [turn(100, { say: "one" }), turn(1, { say: "two" })],
    });
    await lead.worker.handleTypedLine("begin");
    await eventually("the notification", () =>
      lead.shown.some((line) => line.startsWith("waiting: The team has used up its budget")),
    );
    await sendMessage(ref, { from: "dev", to: LEAD_NAME, text: "hello" });
    await eventually("the pause", () => isPaused(ref, LEAD_NAME));
    await raise(ref, undefined, { maxTokens: 500 });
    await eventually("the next turn", () => lead.worker.lastText === "two");
    expect(lead.inputs[1]).toContain("A person has raised the budget of the team: 100 of 500 tokens.");
    expect(lead.inputs[1]).not.toContain("stop");
    expect(lead.shown).toContain(
      "received system: A person has raised the budget of the team: 100 of 500 tokens.",
    );
  });

  it("tells a lead the state of a teammate's budget at the time when it reads the notice", async () => {
    const ref = await testTeam(["dev"]);
    await setLimits(ref, "dev", { maxTokens: 100 });
    const dev = await workerOfTest(ref, { turns: [turn(100, { say: "one" })] });
    await send(ref, "begin");
    await eventually("its idle state", () => isIdle(ref));
    await dev.stop();
    const [notice = ""] = await notices(ref);
    expect(notice).toMatch(/^dev has used up its budget/);
    await raise(ref, "dev", { maxTokens: 500 });
    // Another member sends the same text, which stays unchanged.
    await addMembers(ref, [{ name: "rev", cwd: "/" }]);
    await sendMessage(ref, { from: "rev", to: LEAD_NAME, text: notice });
    const lead = await workerOfTest(ref, { name: LEAD_NAME, role: "lead", turns: [turn(1, { say: "two" })] });
    await eventually("its turn", () => lead.worker.lastText === "two");
    expect(lead.inputs[0]).toContain("A person has raised the budget of dev: 100 of 500 tokens.");
    expect(lead.inputs[0]?.split("dev has used up its budget")).toHaveLength(2);
  });

  it("does not keep a run open if the lead's last answer used it up", async () => {
    const ref = await testTeam([]);
    await setLimits(ref, undefined, { maxTokens: 1_000 });
    const lead = await workerOfTest(ref, {
      name: LEAD_NAME,
      role: "lead",
      turns: [turn(1_200, { say: "the goal is reached" })],
      wrap: (options) => ({
        ...options,
        decideWhenIdle: async (held) =>
          options.status.state === "idle" &&
          lead.worker.lastText !== "" &&
          unreadCount(ref, LEAD_NAME) <= held
            ? "over"
            : "wait",
      }),
    });
    await lead.worker.handleTypedLine("begin");
    expect(await lead.ended).toBe("over");
    expect(lead.worker.lastText).toBe("the goal is reached");
    expect(await notices(ref)).toEqual([expect.stringContaining("has used up its budget")]);
  });
});

it("budget of a member › keeps it paused between turns while a background subagent waits", async () => {
  const ref = await testTeam(["dev"]);
  await setLimits(ref, "dev", { maxTokens: 1 });
  const context = workerContext(ref);
  context.status.report("ready");
  context.status.addSpent({ input: 5, output: 0, cacheRead: 0, cacheWrite: 0 }, 0);
  const wait = new BudgetWait(context);
  const over = new AbortController();
  const call = wait.beforeCall(over.signal);
  await eventually("the pause", () => wait.isWaiting);
  expect(await wait.mustWait(false)).toBe(false);
  expect([wait.isWaiting, context.status.state]).toEqual([true, "paused"]);
  over.abort();
  expect(await call).toBe("go");
  expect(await wait.mustWait(false)).toBe(false);
  expect([wait.isWaiting, context.status.state]).toEqual([false, "idle"]);
});
