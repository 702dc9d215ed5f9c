import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { REQUEST_GUARD_MS } from "../../../src/worker/view.ts";
import { leaves, nothing } from "../../support/assertions/leftovers.ts";
import { startFakeMessagesApi } from "../../support/model/fake-messages-api.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";
import { type Person, personInside, personOutside } from "../../support/tmux/terminal-user.ts";

const REACHED = "done: type your next goal, or /exit";
const uses = (name: string, input: object) => ({ name, input });
const CREATE = uses("TaskCreate", { subject: "count the words", description: "d" });
const complete = uses("TaskUpdate", { taskId: "1", status: "completed" });

/** Arguments of a run whose lead plays these turns for the goal, and answers “more” with “Four.” */
function run(t: PrivateTmux, turns: readonly object[], ...more: readonly string[]): readonly string[] {
  const lead = [{ on: { contains: "more" }, say: "Four." }, ...turns];
  writeFileSync(join(t.home, "play.json"), JSON.stringify({ version: 1, agents: { "team-lead": lead } }));
  const mode = ["--permission-mode", "bypassPermissions", "--no-sidebar"];
  return ["run", "--team", "crew", "--playbook", "play.json", ...mode, ...more];
}

async function continuesConversation(person: Person): Promise<void> {
  await person.sees("Three.");
  await person.sees(REACHED);
  person.type("one more", "Enter");
  await person.sees("Four.");
}

describe("run with a goal on a terminal", () => {
  it("stays open when the goal is reached; /exit keeps a team that has no tasks", async () => {
    const t = privateTmux();
    const person = personInside(t, run(t, [{ say: "Three." }], "count the words"));
    await continuesConversation(person);
    expect(person.screen().split(REACHED)).toHaveLength(2);
    person.type("/exit", "Enter");
    expect(await person.code()).toBe(0);
    expect(person.screen()).toMatch(/To continue: teams run --resume --team crew\s*$/);
    // Without teammates, nothing is waited for.
    expect(person.screen()).not.toContain("to exit now");
    expect((await teamsIn(t.env, t.home)(["delete", "crew"])).code).toBe(0);
    await leaves(t, nothing(["work:cat"]));
  });

  it.each([
    ["completed all tasks", [{ tools: [CREATE, complete] }, { say: "Three." }]],
    ["deleted its team", [{ tools: [uses("TeamDelete", {})] }, { say: "Three." }]],
  ])("leaves no team on /exit if the lead has %s", async (_, turns) => {
    const t = privateTmux();
    const person = personInside(t, run(t, turns, "count the words"));
    await continuesConversation(person);
    person.type("/exit", "Enter");
    expect(await person.code()).toBe(0);
    expect(person.screen()).toContain("the run is over; the team crew was deleted");
    expect(person.screen()).not.toContain("To continue");
    await leaves(t, nothing(["work:cat"]));
  });

  it("keeps the team on /exit if a task is open", async () => {
    const t = privateTmux();
    const person = personInside(t, run(t, [{ tools: [CREATE] }, { say: "Three." }], "count the words"));
    await continuesConversation(person);
    person.type("/exit", "Enter");
    expect(await person.code()).toBe(0);
    expect(person.screen()).toMatch(/1 task is unfinished[\s\S]*To continue: teams run --resume --team crew/);
    expect((await teamsIn(t.env, t.home)(["delete", "crew"])).code).toBe(0);
  });

  it("waits for working teammates before it says that nothing is left", async () => {
    const t = privateTmux();
    const waits = { name: "Bash", input: { command: "until [ -e go ]; do sleep 0.1; done" } };
    const agents = {
      "team-lead": [
        { tools: [uses("Agent", { name: "ann", prompt: "count" })] },
        { say: "She counts.", repeat: true },
      ],
      ann: [{ tools: [waits] }, { say: "Three." }],
    };
    const words = run(t, [], "--teammate-mode", "process", "count the words");
    writeFileSync(join(t.home, "play.json"), JSON.stringify({ version: 1, agents }));
    const person = personInside(t, words);
    await person.sees("She counts.");
    const teams = teamsIn(t.env, t.home);
    await eventually("the lead to be idle", async () => {
      const { members } = (await teams(["status", "--json"])).json<{ members: { state: string }[] }>();
      return members.map(({ state }) => state).join() === "idle,running";
    });
    expect(person.screen()).not.toContain(REACHED);
    writeFileSync(join(t.home, "go"), "");
    await person.sees(REACHED);
    person.type("C-d");
    expect(await person.code()).toBe(0);
    expect((await teams(["delete", "crew"])).code).toBe(0);
  });

  it("stays in its own session for a user outside tmux, and prints the result there after /exit", async () => {
    const t = privateTmux();
    const person = personOutside(t, run(t, [{ say: "Three." }], "--rm", "count the words"));
    await continuesConversation(person);
    person.type("/exit", "Enter");
    expect(await person.code()).toBe(0);
    await person.sees(/^Four\.$/m);
    await leaves(t, nothing());
  });

  it("reads lines on a dumb terminal, and sends it no control sequences", async () => {
    const t = privateTmux({ config: "set -g default-terminal dumb" });
    const bytes = join(t.home, "bytes");
    const person = personInside(t, run(t, [{ say: "**Three.**" }], "--rm", "count the words"), { bytes });
    await continuesConversation(person);
    // The terminal itself has echoed the line.
    expect(person.screen()).toMatch(/^one more$/m);
    // A capture of the screen does not show control sequences.
    const written = await eventually("the answer in the pipe", () => {
      const text = existsSync(bytes) ? readFileSync(bytes, "utf8") : "";
      return text.includes("Four.") && text;
    });
    expect(written).not.toContain("\x1b");
    // Close the pipe: its cat would keep running.
    t.tmux("pipe-pane", "-t", person.pane);
    person.type("/exit", "Enter");
    expect(await person.code()).toBe(0);
    await leaves(t, nothing(["work:cat"]));
  });

  it("does not take a line begun before a request as its answer on a dumb terminal", async () => {
    const t = privateTmux({ config: "set -g default-terminal dumb" });
    const asks = { on: { contains: "make" }, tools: [uses("Bash", { command: "touch made" })] };
    const words = run(t, [asks, { say: "Three." }], "--rm", "count the words");
    const ordinary = words.map((word) => (word === "bypassPermissions" ? "default" : word));
    const person = personInside(t, ordinary);
    await person.sees(REACHED);
    person.type("-l", "yes, and then push it");
    await person.sees("yes, and then push it");
    expect((await teamsIn(t.env, t.home)(["send", "team-lead", "make it"])).code).toBe(0);
    await person.sees("Allow this command? touch made");
    // The guard has no event.
    const readable = performance.now() + REQUEST_GUARD_MS;
    await eventually("the end of the guard", () => performance.now() > readable);
    person.type("Enter");
    await person.sees("it is kept for later");
    expect(existsSync(join(t.home, "made"))).toBe(false);
    person.type("y", "Enter");
    await eventually("the file", () => existsSync(join(t.home, "made")));
    await person.sees("› yes, and then push it");
    person.type("/exit", "Enter");
    expect(await person.code()).toBe(0);
  });

  it("takes a sentence that begins with yes as the answer to a question on a dumb terminal", async () => {
    const t = privateTmux({ config: "set -g default-terminal dumb" });
    const turns = [{ tools: [uses("AskUserQuestion", { question: "Which one?" })] }, { say: "I wait." }];
    const answered = { on: { contains: "yes, the second" }, say: "Four." };
    const person = personInside(t, run(t, [answered, ...turns], "--rm", "count the words"));
    await person.sees("I wait.");
    person.type("-l", "yes, the second");
    person.type("Enter");
    await person.sees("Four.");
    await person.sees(REACHED);
    expect((await teamsIn(t.env, t.home)(["approvals", "--json"])).json()).toMatchObject({ approvals: [] });
    person.type("/exit", "Enter");
    expect(await person.code()).toBe(0);
  });

  it("tells the model that the user can continue to type, or with --once that the run ends", async () => {
    const t = privateTmux();
    const says = { kind: "message" as const, blocks: [{ type: "text" as const, text: "Three." }] };
    const api = await startFakeMessagesApi([says, says]);
    onTestFinished(() => api.close());
    const env = { ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: "sk-test-000000000000" };
    const words = ["run", "--team", "crew", "--no-sidebar", "--rm"];
    const staying = personInside(t, [...words, "count the words"], { env });
    await staying.sees(REACHED);
    staying.type("C-d");
    expect(await staying.code()).toBe(0);
    const once = personInside(t, [...words, "--once", "count the words"], { env, session: "once" });
    expect(await once.code()).toBe(0);
    const prompts = api.requests.map(({ body }) => JSON.stringify(body.system));
    expect(prompts).toEqual([
      expect.stringContaining("The person types goals"),
      expect.stringContaining("The run ends with the first turn"),
    ]);
  });
});

describe("run that ends when its goal is reached", () => {
  it.each([["--once"], ["-p"], ["--quiet"]])("ends on a terminal with %s", async (option) => {
    const t = privateTmux();
    const person = personInside(t, run(t, [{ say: "Three." }], option, "count the words"));
    expect(await person.code()).toBe(0);
    expect(person.screen()).toContain("Three.");
    expect(person.screen()).not.toContain(REACHED);
    await leaves(t, nothing(["work:cat"]));
  });

  it("ends without a terminal, and with --detach", async () => {
    const t = privateTmux();
    const teams = teamsIn(t.env, t.home);
    const { code, out } = await teams(run(t, [{ say: "Three." }], "count the words"));
    expect([code, out]).toEqual([0, expect.stringContaining("Three.")]);
    await leaves(t, nothing());
    expect((await teams(run(t, [{ say: "Three." }], "--detach", "count the words"))).code).toBe(0);
    await eventually(
      "the session's end",
      async () => (await teams(["ls", "--json"])).json<{ teams: [] }>().teams.length === 0,
    );
    await leaves(t, nothing());
  });

  it("needs a goal with --once, even on a terminal", async () => {
    const t = privateTmux();
    const env = { ANTHROPIC_BASE_URL: "http://127.0.0.1:1", ANTHROPIC_API_KEY: "sk-test-000000000000" };
    const person = personInside(t, ["run", "-p", "--no-sidebar"], { env });
    expect(await person.code()).toBe(2);
    expect(person.screen()).toContain("No goal was given; nothing was started.");
  });
});
