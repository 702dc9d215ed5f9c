import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { startTimeOf } from "../../../src/os/process/identity.ts";
import { doneIn, teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";
import { personInside } from "../../support/tmux/terminal-user.ts";

const DEFAULTED = "8080 (your default: no answer came before the deadline)";

/** Starts a teammate that asks for a port, with a deadline in seconds. */
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
      approvals: { id: string; kind: string; deadline?: string }[];
    }>().approvals;
  return {
    t,
    teams,
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

type Asking = Awaited<ReturnType<typeof asking>>;

const question = (team: Asking) =>
  eventually("the question", async () => (await team.open()).find(({ kind }) => kind === "question"));

/** Answers a question before its deadline. If the machine stalls past the deadline, asks again with a longer one. */
async function answeredInTime() {
  for (let seconds = 8; ; seconds *= 4) {
    const team = await asking(seconds);
    const asked = await eventually(
      "the question or its default",
      async () =>
        (await team.open()).find(({ kind }) => kind === "question") ??
        ((await team.inbox()).includes(DEFAULTED) ? "late" : undefined),
    );
    if (asked === "late") continue;
    const { code } = await team.teams(["approve", asked.id, "--note", "1"]);
    if (code === 0) return { ...team, asked };
  }
}

describe("a question with a default and a deadline", () => {
  it("is answered by its default at the deadline, and an open permission request still waits", async () => {
    const { done, open, inbox } = await asking(2);
    await eventually("the default", async () => (await inbox()).includes(DEFAULTED));
    expect((await done("events")).out).toContain("question defaulted: question-");
    await eventually("the permission", async () => (await open()).length > 0);
    expect((await open()).map(({ kind }) => kind)).toEqual(["permission"]);
    await done("approve", "dev");
    await eventually("the next turn", async () => (await done("logs", "dev")).out.includes("I have it."));
  });

  it("keeps an answer that a person gave before the deadline", async () => {
    const { inbox, asked } = await answeredInTime();
    await eventually("the deadline", () => Date.now() > Date.parse(asked.deadline ?? "") + 1_000);
    const text = await inbox();
    expect(text).toContain(`"requestId":"${asked.id}","answer":"80"`);
    expect(text).not.toContain(DEFAULTED);
  });

  it("is answered by its default after a crash if the deadline has passed meanwhile", async () => {
    const team = await asking(600);
    const { t, done, open, inbox } = team;
    const { id, deadline } = await question(team);
    const { members } = (await done("status", "--json")).json<{ members: { name: string; pid: number }[] }>();
    const pid = members.find(({ name }) => name === "dev")?.pid ?? 0;
    process.kill(pid, "SIGKILL");
    await eventually("the end of dev", () => startTimeOf(pid) === undefined);
    const { request } = t.paths("crew").request(id);
    writeFileSync(
      request,
      readFileSync(request, "utf8").replaceAll(`${Date.parse(deadline ?? "")}`, `${Date.now() - 1}`),
    );
    await eventually("the crash", async () => (await open()).some(({ kind }) => kind === "crash"));
    expect(await inbox()).not.toContain(DEFAULTED);
    await done("resume");
    await eventually("the default", async () => (await inbox()).includes(DEFAULTED));
  });

  it("shows its deadline, and is answered by its default if the person approves without a choice", async () => {
    const team = await asking(600);
    const { t, done, inbox } = team;
    const { id } = await question(team);
    const person = personInside(t, ["approvals"], { env: { LC_ALL: "C.UTF-8" } });
    await person.sees(/default: 8080 \(becomes the answer at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\)/);
    await done("approve", id);
    expect(await inbox()).toContain(`"requestId":"${id}","answer":"8080"`);
  });
});
