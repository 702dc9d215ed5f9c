import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { startTimeOf } from "../../../src/os/process/identity.ts";
import { doneIn, teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";
import { personInside } from "../../support/tmux/terminal-user.ts";

const PATIENCE = 30_000;
const DEFAULTED = "8080 (your default: no answer came before the deadline)";

/** A teammate that asks for a port, with a deadline in seconds. */
async function asking(deadline: number) {
  const t = privateTmux();
  const [teams, done] = [teamsIn(t.env, t.home), doneIn(t.env, t.home)];
  const input = { question: "Which port?", choices: ["80", "8080"], default: "8080", deadline };
  const turns = [
    {
      on: { contains: "go" },
      tools: [
        { name: "AskUserQuestion", input },
        { name: "Bash", input: { command: "touch x" } },
      ],
    },
    { say: "I wait." },
    { on: { contains: "Answer to your question" }, say: "I have it." },
  ];
  writeFileSync(join(t.home, "ask.json"), JSON.stringify({ version: 1, agents: { dev: turns } }));
  await done("create", "crew");
  const spawn = ["spawn", "dev", "--prompt", "go", "--model", "scripted:ask.json"];
  await done(...spawn, "--teammate-mode", "process");
  onTestFinished(async () => void (await teams(["kill", "crew", "--force", "--team", "crew"])));
  const open = async () =>
    (await done("approvals", "--json")).json<{
      approvals: { id: string; kind: string; deadline?: number }[];
    }>().approvals;
  return {
    t,
    done,
    open,
    inbox: async () => {
      const { messages } = (await done("inbox", "dev", "--all", "--json")).json<{
        messages: { text: string }[];
      }>();
      return messages.map(({ text }) => text).join("\n");
    },
  };
}

describe("a question with a default and a deadline", () => {
  it("is answered by its default at the deadline, and a permission beside it still waits", {
    timeout: 120_000,
  }, async () => {
    const { t, done, open, inbox } = await asking(6);
    await eventually(
      "the question",
      async () => (await open()).some(({ kind }) => kind === "question"),
      PATIENCE,
    );
    const person = personInside(t, ["approvals"], { env: { LC_ALL: "C.UTF-8" } });
    await person.sees(/default: 8080 \(the answer at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\)/);
    await eventually("the default", async () => (await inbox()).includes(DEFAULTED), PATIENCE);
    expect((await done("events")).out).toContain("question defaulted: question-");
    expect((await open()).map(({ kind }) => kind)).toEqual(["permission"]);
    await done("approve", "dev");
    await eventually(
      "the turn after it",
      async () => (await done("logs", "dev")).out.includes("I have it."),
      PATIENCE,
    );
  });

  it("keeps an answer that a person gave before the deadline", async () => {
    const { done, open, inbox } = await asking(8);
    const question = await eventually(
      "the question",
      async () => (await open()).find(({ kind }) => kind === "question"),
      PATIENCE,
    );
    await done("approve", question.id, "--note", "1");
    await eventually("the deadline", () => Date.now() > (question.deadline ?? 0) + 1_000, PATIENCE);
    const text = await inbox();
    expect(text).toContain(`"requestId":"${question.id}","answer":"80"`);
    expect(text).not.toContain(DEFAULTED);
  });

  it("takes its default after a crash in which the deadline passed", async () => {
    const { done, open, inbox } = await asking(8);
    const question = await eventually(
      "the question",
      async () => (await open()).find(({ kind }) => kind === "question"),
      PATIENCE,
    );
    const { members } = (await done("status", "--json")).json<{ members: { name: string; pid: number }[] }>();
    const pid = members.find(({ name }) => name === "dev")?.pid ?? 0;
    process.kill(pid, "SIGKILL");
    await eventually("its end", () => startTimeOf(pid) === undefined);
    await eventually("the deadline", () => Date.now() > (question.deadline ?? 0), PATIENCE);
    await eventually("the crash", async () => (await open()).some(({ kind }) => kind === "crash"), PATIENCE);
    expect(await inbox()).not.toContain(DEFAULTED);
    await done("resume");
    await eventually("the default", async () => (await inbox()).includes(DEFAULTED), PATIENCE);
  });

  it("is answered by its default if the person only agrees", {
    timeout: 120_000,
  }, async () => {
    const { done, open, inbox } = await asking(600);
    const question = await eventually(
      "the question",
      async () => (await open()).find(({ kind }) => kind === "question"),
      PATIENCE,
    );
    await done("approve", question.id);
    expect(await inbox()).toContain(`"requestId":"${question.id}","answer":"8080"`);
  });
});
