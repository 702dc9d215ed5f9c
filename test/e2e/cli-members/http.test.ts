import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { AdapterInput } from "../../../src/adapter/adapter-schema.ts";
import { startTimeOf } from "../../../src/os/process/identity.ts";
import { testMemberContract } from "../../support/cli/member-contract.ts";
import { memberTeam } from "../../support/cli/member-team.ts";
import { scriptFile } from "../../support/processes/script-process.ts";
import { describeInSandbox } from "../../support/sandbox/sandboxed-agent.ts";
import { eventually } from "../../support/timing/eventually.ts";

const file = scriptFile("cli/http");
const ADAPTER: Omit<AdapterInput, "command"> = {
  channel: "http",
  resume: "resume",
  modes: { default: "build" },
  modelArgs: ["--model", "{model}"],
};

testMemberContract({ adapter: ADAPTER, file, conversation: ["session/new", "session/load"] });

const team = (settings: Readonly<Record<string, unknown>> = {}) =>
  memberTeam(file(), ADAPTER, "tmux", settings);

describe("OpenCode over a plugin", () => {
  it("works like any other member: first message, mode, last words, tokens, cost", async () => {
    const { spawn, state, log, logged, leadGot, teams, repo, paneShowing } = await team();
    const spawned = await spawn("say: hello from the other make");
    expect([spawned.code, spawned.err]).toEqual([0, ""]);
    await leadGot("hello from the other make");
    await state("ada", "idle");
    await logged({ agent: "build" });
    expect(log().find((line) => "session/new" in line)).toMatchObject({ cwd: repo, args: [] });
    const [first] = log().flatMap(({ prompt }) => (typeof prompt === "string" ? [prompt] : []));
    expect(first).toMatch(/You are ada, a teammate in the team "crew"[\s\S]*say: hello/);
    await paneShowing();
    await teams("send", "ada", "say: second");
    await leadGot("second");
    const { members } = (await teams("status", "--json")).json<{ members: Record<string, unknown>[] }>();
    expect(members.find(({ name }) => name === "ada")).toMatchObject({
      tokens: { input: 20, output: 10 },
      costUsd: 0.5,
    });
  });

  it("uses the model of --model for messages and on its own screen", async () => {
    const { spawn, logged } = await team();
    await spawn("say: hi", "--model", "maker/big");
    await logged({ args: ["--model", "maker/big"] });
    await logged({ agent: "build", model: "maker/big" });
  });

  it("asks through teams approvals, gets the answer, and lets rules decide without a person", async () => {
    const { spawn, state, approval, teams, repo, logged } = await team({
      permissions: { allow: ["Bash(touch ruled:*)"], deny: ["Bash(touch denied:*)"] },
    });
    await spawn("run: touch asked\nrun: touch ruled\nrun: touch denied\nedit: file.txt");
    const first = await approval();
    expect(first.summary).toBe("Bash(touch asked)");
    expect((await teams("approve", first.id)).code).toBe(0);
    const edit = await eventually("the edit", async () => {
      const next = await approval();
      return next.id === first.id ? undefined : next;
    });
    expect(edit.summary).toContain("file.txt");
    expect((await teams("approvals", edit.id)).out).toContain("+ new text");
    expect((await teams("reject", edit.id)).code).toBe(0);
    await state("ada", "idle");
    expect(["asked", "ruled", "denied", "file.txt"].map((name) => existsSync(join(repo, name)))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    await logged({ reply: "reject", hasMessage: true });
  });

  it("withdraws a request that the person answers on its own screen", async () => {
    const { spawn, approval, approvals, type, leadGot, repo, log } = await team();
    await spawn("run: touch here\nsay: went on");
    await approval();
    await type("yes");
    await leadGot("went on");
    expect(existsSync(join(repo, "here"))).toBe(true);
    expect(await approvals()).toEqual([]);
    expect(log().filter((line) => "reply" in line)).toEqual([]);
  });

  it("survives odd events, 10 MB of output, late tools and requests after the turn or of other sessions", async () => {
    const { spawn, state, leadGot, teams, approvals, logged, repo } = await team();
    await spawn("odd\nbig\nlate\nforeign\nsay: still here");
    await leadGot("still here");
    await state("ada", "idle");
    expect(await approvals()).toEqual([]);
    await teams("send", "ada", "after");
    await logged({ after: false });
    expect(["after", "foreign"].map((name) => existsSync(join(repo, name)))).toEqual([false, false]);
  });

  it("keeps its requests when OpenCode loads its plugins again", async () => {
    const { spawn, approval, teams, leadGot } = await team();
    await spawn("reload\nrun: touch later\nsay: over");
    await teams("approve", (await approval()).id);
    await leadGot("over");
  });

  it("asks for everything, whatever the project's files allow", async () => {
    const { spawn, state, log } = await team();
    await spawn("say: hi");
    await state("ada", "idle");
    const { config } = log().find((line) => "config" in line) as {
      config: { permission: object; agent: { build: { permission: object } } };
    };
    for (const { permission } of [config, config.agent.build])
      expect(permission).toMatchObject({ "*": "ask", bash: "ask", edit: "ask" });
  });

  it("gives its commands no access that could answer their own requests", async () => {
    const { spawn, approval, teams, leadGot, repo, log } = await team();
    await spawn("rogue\nrun: env > environment\nsay: went on");
    await teams("approve", (await approval()).id);
    await leadGot("went on");
    expect(log()).toContainEqual({ rogue: "closed" });
    const environment = readFileSync(join(repo, "environment"), "utf8");
    expect(environment).not.toMatch(/password|teams-bridge|fetch_retries|"bash":"ask"/i);
  });

  it("ends with every process that it started, after a last turn to say goodbye", async () => {
    const { spawn, state, teams, log } = await team();
    await spawn("child");
    await state("ada", "idle");
    const ended = await teams("shutdown", "ada", "--timeout", "180");
    expect([ended.code, ended.err]).toEqual([0, ""]);
    expect(JSON.stringify(log())).toContain("Shutdown request");
    const child = log().find((line) => "child" in line)?.child as number;
    await eventually("the end of its child", () => startTimeOf(child) === undefined);
    const plugin = log().find((line) => "plugin" in line)?.plugin as string;
    await eventually("the removal of its socket", () => !existsSync(new URL("..", plugin)));
  });

  it("is not started when its program ends at once", async () => {
    const { spawn, approval, mark, state } = await team();
    mark("broken");
    await spawn("say: hi");
    await state("ada", "crashed");
    expect((await approval()).summary).toContain("fake did not start: it ended with exit code 1");
  });

  it("is not started again after an update to an unsupported version", async () => {
    const unsupported = { versions: ">=2", why: "It speaks another interface." };
    const own = await memberTeam(file(), { ...ADAPTER, unsupported }, "tmux");
    const { spawn, mark, leadGot, state, teams } = own;
    mark("version", "fake 1.18.33");
    expect((await spawn("say: hi")).code).toBe(0);
    await leadGot("hi");
    mark("version", "fake 2.0.1");
    await teams("send", "ada", "exit: 3");
    await state("ada", "crashed");
    await teams("resume");
    await eventually("the reason", async () =>
      (await teams("status", "--json")).out.includes("fake 2.0.1 was not started: It speaks another"),
    );
  });

  it("needs input when teams cannot show its model's question", async () => {
    const { spawn, state } = await team();
    await spawn("question: odd\nstay");
    await state("ada", "needs-input");
  });

  it("shows its model's question in teams approvals, and takes the answer", async () => {
    const { spawn, state, teams, approval, logged, leadGot } = await team();
    await spawn("question\nsay: was answered");
    const first = await approval();
    expect(first).toMatchObject({ kind: "question", choices: ["a", "b"] });
    await state("ada", "needs-input");
    await teams("approve", first.id, "--note", "a, b");
    const second = await approval(first);
    await teams("approve", second.id, "--note", "yes");
    await logged({ question: "reply", answers: [["a", "b"], ["Yes"]] });
    await leadGot("was answered");
  });

  it("rejects its model's question when a person does", async () => {
    const { spawn, teams, approval, logged, leadGot } = await team();
    await spawn("question\nsay: was rejected");
    await teams("reject", (await approval()).id);
    await logged({ question: "reject" });
    await leadGot("was rejected");
  });

  it("uses the answer to its model's question that a person gives first, on its own screen", async () => {
    const { spawn, approval, approvals, leadGot, type } = await team();
    await spawn("question\nsay: was chosen");
    await approval();
    await type("chosen");
    await leadGot("was chosen");
    expect(await approvals()).toEqual([]);
  });
});

describeInSandbox("OpenCode that runs as a whole inside the sandbox", () => {
  it("gets its messages, and can write only its login and its directory", async () => {
    const { spawn, state, approval, teams, repo, place, leadGot } = await team();
    const out = join(place.home, "outside");
    const spawned = await spawn(`run: touch inside ${out}; true\nsay: done it`, "--sandbox", "required");
    expect([spawned.code, spawned.err]).toEqual([0, ""]);
    const { id } = await approval();
    expect((await teams("approvals", id)).out).toContain("The command runs in the sandbox.");
    await teams("approve", id);
    await leadGot("done it");
    await state("ada", "idle");
    expect([existsSync(join(repo, "inside")), existsSync(out)]).toEqual([true, false]);
  });
});
