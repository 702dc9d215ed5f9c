import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { ASK_FOR_SUMMARY } from "../../../src/agent/conversation/summary-prompt.ts";
import {
  type FakeMessagesApi,
  type FakeRequest,
  startFakeMessagesApi,
} from "../../support/model/fake-messages-api.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { teammatePane } from "../../support/team/teammate-pane.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";
import { personInside, userAt } from "../../support/tmux/terminal-user.ts";

const textOf = ({ body }: FakeRequest): string => JSON.stringify(body.messages);
const asksForSummary = (request: FakeRequest): boolean =>
  textOf(request).includes(ASK_FOR_SUMMARY.slice(0, 60));

/** Starts a model that answers each message with a number, and a request for a summary with a summary. */
async function model(): Promise<FakeMessagesApi> {
  let answers = 0;
  const api = await startFakeMessagesApi((request) => {
    if (!asksForSummary(request)) answers += 1;
    const text = asksForSummary(request) ? "SUMMARY of the work" : `Answer ${answers}.`;
    return {
      kind: "message",
      blocks: [{ type: "text", text }],
      usage: { input_tokens: 900, output_tokens: 9 },
    };
  });
  onTestFinished(() => api.close());
  return api;
}

it("a lead's pane › changes the model, compacts and clears the conversation, and keeps all of it in the logs", async () => {
  const t = privateTmux();
  const api = await model();
  const env = { ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: "k" };
  const words = ["run", "--team", "crew", "--model", "sonnet", "--no-sidebar", "first goal"];
  const person = personInside(t, [...words, "--max-cost", "9"], { env });
  await person.sees("Answer 1.");
  person.type("/model", "Enter");
  await person.sees("model: claude-sonnet-5-5");
  person.type("/model haiku", "Enter");
  await person.sees("the model is now claude-haiku-5-5");
  person.type("/model no model", "Enter");
  await person.sees("/model takes [id]: nothing was done or sent");
  // The cost of this model could not be checked against the budget.
  person.type("/model some-model", "Enter");
  await person.sees("The price of some-model is unknown");
  person.type("second line", "Enter");
  await person.sees("Answer 2.");
  expect(api.requests.map(({ body }) => body.model)).toEqual(["claude-sonnet-5-5", "claude-haiku-5-5"]);

  person.type("/compact keep the colour", "Enter");
  await person.sees(/conversation compacted: \d/);
  const asked = api.requests.find(asksForSummary);
  expect(JSON.stringify(asked?.body.messages.at(-1))).toContain("the summary to keep: keep the colour");
  person.type("third line", "Enter");
  await person.sees("Answer 3.");
  const third = textOf(api.requests.at(-1) as FakeRequest);
  expect(third).toContain("SUMMARY of the work");
  expect(third).not.toContain("Answer 1.");

  person.type("/clear", "Enter");
  await person.sees("conversation cleared");
  person.type("fourth line", "Enter");
  await person.sees("Answer 4.");
  const fourth = textOf(api.requests.at(-1) as FakeRequest);
  expect(fourth).not.toMatch(/SUMMARY|third line|first goal/);
  expect(fourth).toContain("Members of the team:");
  person.type("C-l");
  await person.sees(/^ *Answer 4\./m);
  expect(t.tmux("capture-pane", "-p", "-t", person.pane)).not.toContain("Answer 3.");
  person.type("/exit", "Enter");
  expect(await person.code()).toBe(0);

  const logs = await teamsIn(t.env, t.home)(["logs", "team-lead", "--team", "crew", "--all"]);
  expect(logs.out).toMatch(
    /first goal[\s\S]*was compacted here[\s\S]*Answer 3[\s\S]*was cleared here[\s\S]*Answer 4/,
  );
  // The next process has the chosen model and only the new conversation.
  const again = personInside(t, ["run", "--resume", "--team", "crew", "--no-sidebar"], {
    env,
    session: "later",
  });
  await again.sees("Answer 5.");
  const last = api.requests.at(-1) as FakeRequest;
  expect(last.body.model).toBe("claude-haiku-5-5");
  expect(textOf(last)).toContain("fourth line");
  expect(textOf(last)).not.toContain("third line");
  again.type("/exit", "Enter");
  expect(await again.code()).toBe(0);
});

it("an action on the agent › waits for the running turn, and Esc cancels a summary without an effect", async () => {
  const t = privateTmux();
  let finishSlowAnswer = (): void => undefined;
  const until = new Promise<void>((resolve) => {
    finishSlowAnswer = resolve;
  });
  const api = await startFakeMessagesApi((request) => {
    if (asksForSummary(request)) return { kind: "hang" };
    const isSlow = textOf(request).includes("slow line");
    const text = isSlow ? "A slow answer." : "Answer.";
    return { kind: "message", blocks: [{ type: "text", text }], ...(isSlow && { until }) };
  });
  onTestFinished(() => api.close());
  const env = { ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: "k" };
  const person = personInside(t, ["run", "--model", "sonnet", "--no-sidebar", "first goal"], { env });
  // This text is not in the row of the ending turn, which appears earlier.
  await person.sees("done: type your next goal");
  person.type("slow line", "Enter");
  await person.sees(/● (Thinking|Writing)/);
  person.type("/compact", "Enter");
  await person.sees("runs after this turn; Esc interrupts the turn");
  finishSlowAnswer();
  await person.sees("A slow answer.");
  await person.sees(/● Compacting · \d+ .* · Esc interrupts/);
  person.type("Escape");
  await person.sees("interrupted: the conversation is unchanged");
  await eventually("the end of the activity", () => !person.screen().includes("● Compacting"));
  person.type("another line", "Enter");
  await eventually("the next request", () =>
    textOf(api.requests.at(-1) as FakeRequest).includes("another line"),
  );
  expect(textOf(api.requests.at(-1) as FakeRequest)).toContain("first goal");
  person.type("/exit", "Enter");
  expect(await person.code()).toBe(0);
});

const PLAYBOOK = {
  version: 1,
  agents: {
    dev: [
      { on: { contains: "hello" }, say: "Good day." },
      { on: { contains: "again" }, say: "And again." },
    ],
  },
};

it("a teammate's pane › says what a playbook cannot do, clears, and ends on /exit", async () => {
  const t = privateTmux();
  const { teams, dev } = await teammatePane(t, PLAYBOOK);
  await dev.sees("Good day.");
  dev.type("/model", "Enter");
  await dev.sees(/model: scripted:.*play\.json/);
  dev.type("/model opus", "Enter");
  await dev.sees("There is no access to claude-opus-5-5; the model was not changed.");
  await dev.sees("ANTHROPIC_API_KEY");
  dev.type("/model scripted:missing.json", "Enter");
  await dev.sees(/There is no playbook .*missing\.json/);
  dev.type("/compact", "Enter");
  await dev.sees("A playbook needs no summary. The conversation is unchanged.");
  dev.type("/exit --delete", "Enter");
  await dev.sees("/exit takes no arguments");
  dev.type("/clear", "Enter");
  await dev.sees("conversation cleared");
  await dev.sees("teams logs dev");
  dev.type("again", "Enter");
  await dev.sees("And again.");
  expect(t.tmux("capture-pane", "-p", "-t", dev.pane)).not.toContain("Good day.");
  dev.type("/exit", "Enter");
  const isGone = async (): Promise<boolean> =>
    !(await teams(["status", "--json"]))
      .json<{ members: { name: string }[] }>()
      .members.some(({ name }) => name === "dev");
  await eventually("the end of dev", isGone);
  expect(t.tmux("list-panes", "-a", "-F", "#{pane_id}")).not.toContain(dev.pane);
});

it("a teammate's pane › changes the model, and compacts the conversation", async () => {
  const api = await model();
  const t = privateTmux({ env: { ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: "k" } });
  const teams = teamsIn(t.inside(t.session().pane), t.home);
  await teams(["create", "crew"]);
  const words = ["--model", "sonnet", "--prompt", "first message", "--json"];
  const spawned = await teams(["spawn", "dev", ...words]);
  const dev = userAt(t, spawned.json<{ paneId: string }>().paneId);
  await dev.sees("Answer 1.");
  dev.type("/model haiku", "Enter");
  await dev.sees("the model is now claude-haiku-5-5");
  dev.type("second line", "Enter");
  await dev.sees("Answer 2.");
  expect(api.requests.map(({ body }) => body.model)).toEqual(["claude-sonnet-5-5", "claude-haiku-5-5"]);
  dev.type("/compact keep the colour", "Enter");
  await dev.sees(/conversation compacted: \d/);
  const asked = api.requests.find(asksForSummary);
  expect(JSON.stringify(asked?.body.messages.at(-1))).toContain("the summary to keep: keep the colour");
  dev.type("third line", "Enter");
  await dev.sees("Answer 3.");
  const third = textOf(api.requests.at(-1) as FakeRequest);
  expect(third).toContain("SUMMARY of the work");
  expect(third).not.toContain("Answer 1.");
});

const PLANNED = {
  version: 1,
  agents: {
    dev: [
      { on: { contains: "hello" }, tools: [{ name: "ExitPlanMode", input: { plan: "I look around." } }] },
      { on: { contains: "approved" }, say: "I began." },
    ],
  },
};

it("a teammate's pane › does not compact or clear while its plan waits for an answer", async () => {
  const t = privateTmux();
  const { teams, dev } = await teammatePane(t, PLANNED, "--plan");
  await dev.sees("Your plan is waiting for approval.");
  for (const [i, command] of ["/compact", "/clear"].entries()) {
    dev.type(command, "Enter");
    await eventually("the refusal", () => {
      const refused = dev.screen().split("A plan is waiting for an answer; nothing was changed.");
      return refused.length === i + 2;
    });
  }
  await dev.sees("Answer the plan first: teams approvals");
  expect((await teams(["approve", "dev"])).code).toBe(0);
  await dev.sees("I began.");
  expect(dev.screen()).not.toContain("conversation cleared");
});

const waitsFor = (file: string, output: number) => ({
  tools: [{ name: "Bash", input: { command: `until [ -e ${file} ]; do sleep 0.1; done` } }],
  usage: { input: 40, output },
});
const WORKING = {
  version: 1,
  agents: {
    dev: [
      { on: { contains: "hello" }, ...waitsFor("first", 900) },
      waitsFor("second", 300),
      { say: "Both exist." },
      { on: { contains: "again" }, ...waitsFor("third", 50) },
      { say: "All exist." },
    ],
  },
};

it("a teammate's pane › shows the tokens that the running turn has used so far", async () => {
  const t = privateTmux();
  const { dev } = await teammatePane(t, WORKING, "--permission-mode", "bypassPermissions");
  const finish = (file: string): void => writeFileSync(join(t.home, file), "");
  await dev.sees(/^● Bash .* · \d.* · 900 tokens · Esc interrupts$/m);
  finish("first");
  await dev.sees(/^● Bash .* · \d.* · 1\.2k tokens · Esc interrupts$/m);
  finish("second");
  await dev.sees("Both exist.");
  await eventually("the end of the row", () => !dev.screen().includes("tokens · Esc"));
  // The next turn counts from zero.
  dev.type("again", "Enter");
  await dev.sees(/^● Bash .* · \d.* · 50 tokens · Esc interrupts$/m);
  finish("third");
  await dev.sees("All exist.");
});
