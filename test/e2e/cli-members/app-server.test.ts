import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { AdapterInput } from "../../../src/adapter/adapter-schema.ts";
import { testMemberContract } from "../../support/cli/member-contract.ts";
import { memberTeam } from "../../support/cli/member-team.ts";
import { scriptFile } from "../../support/processes/script-process.ts";
import { eventually } from "../../support/timing/eventually.ts";

const file = scriptFile("cli/app-server");
const ADAPTER: Omit<AdapterInput, "command"> = {
  channel: "app-server",
  resume: "resume",
  modelArgs: ["-m", "{model}"],
  efforts: ["high"],
};

testMemberContract({ adapter: ADAPTER, file, conversation: ["thread/start", "thread/resume"] });

const team = (settings: Readonly<Record<string, unknown>> = {}) =>
  memberTeam(file(), ADAPTER, "tmux", settings);

describe("Codex over its app-server", () => {
  it("gets its model and its effort for each turn, even after a restart", async () => {
    const { spawn, state, log, logged, teams, prompted } = await team();
    const spawned = await spawn("say: hi", "--model", "big", "--effort", "high");
    expect([spawned.code, spawned.err]).toEqual([0, ""]);
    await logged({ effort: "high" });
    expect(log()[0]).toMatchObject({ model: "big" });
    await state("ada", "idle");
    for (const words of [["down", "--timeout", "180"], ["resume"], ["send", "ada", "say: again"]]) {
      const done = await teams(...words);
      expect([words, done.code, done.err]).toEqual([words, 0, ""]);
    }
    await prompted("say: again");
    // The shutdown was a turn of the first process.
    const lines = log();
    const resumed = lines.slice(lines.findIndex((line) => "thread/resume" in line));
    expect(resumed[0]).toMatchObject({ model: "big" });
    expect(resumed).toContainEqual({ effort: "high" });
  });

  it("works like any other member: first message, its own screen, last words, tokens", async () => {
    const { spawn, state, log, leadGot, teams, paneShowing } = await team();
    const spawned = await spawn("say: hello from the other make");
    expect([spawned.code, spawned.err]).toEqual([0, ""]);
    await leadGot("hello from the other make");
    await paneShowing();
    await state("ada", "idle");
    expect(log()[0]).toMatchObject({ approvalPolicy: "untrusted" });
    expect(JSON.stringify(log()[0])).toContain("mcp_servers.teams.command");
    // Codex starts no turn without the team's tools.
    expect(log()[0]).toMatchObject({ args: expect.arrayContaining(["mcp_servers.teams.required=true"]) });
    await teams("send", "ada", "say: second");
    await leadGot("second");
    const { members } = (await teams("status", "--json")).json<{ members: Record<string, unknown>[] }>();
    expect(members.find(({ name }) => name === "ada")).toMatchObject({ tokens: { input: 20, output: 10 } });
    const prompts = log().flatMap(({ prompt }) => (typeof prompt === "string" ? [prompt] : []));
    expect(prompts[0]).toMatch(/You are ada, a teammate in the team "crew"/);
    expect(prompts[1]).not.toContain("You are ada");
  });

  it("asks through teams approvals, gets the answer, and lets rules decide without a person", async () => {
    const { spawn, state, approval, teams, repo } = await team({
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
    expect((await teams("approvals", edit.id)).out).toContain("+ new text");
    expect((await teams("reject", edit.id)).code).toBe(0);
    await state("ada", "idle");
    const made = ["asked", "ruled", "denied", "file.txt"].map((name) => existsSync(join(repo, name)));
    expect(made).toEqual([true, true, false, false]);
  });

  it("gets the reason of a refusal in the same turn, before the refusal", async () => {
    const { spawn, state, approval, teams, log } = await team();
    await spawn("run: touch refused\nsay: went on");
    expect((await teams("reject", (await approval()).id, "--note", "use make instead")).code).toBe(0);
    await state("ada", "idle");
    const about = log().filter((line) => "steered" in line || "asked" in line);
    expect(about).toMatchObject([
      { steered: expect.stringContaining("Bash(touch refused): use make instead") },
      { answer: { decision: "decline" } },
    ]);
  });

  it("accepts an answer and a prompt that a person types on its own screen", async () => {
    const { spawn, state, approval, teams, repo, leadGot, type } = await team();
    await spawn("run: touch asked\nsay: asked it");
    await approval();
    await type("yes");
    await leadGot("asked it");
    expect(existsSync(join(repo, "asked"))).toBe(true);
    expect((await teams("approvals", "--json")).json<{ approvals: [] }>().approvals).toEqual([]);
    await type("say: typed by a person");
    await leadGot("typed by a person");
    await state("ada", "idle");
  });

  it("shows a question that only a person can answer", async () => {
    const { spawn, state, leadGot, type, approvals } = await team();
    await spawn("secret\nsay: was answered");
    await state("ada", "needs-input");
    expect(await approvals()).toEqual([]);
    await type("yes");
    await leadGot("was answered");
    await state("ada", "idle");
  });

  it("shows a question in teams approvals, and takes the answer", async () => {
    const { spawn, state, leadGot, teams, approval, logged, log } = await team();
    await spawn("question\nsay: was answered");
    const first = await approval();
    expect(first).toMatchObject({ kind: "question", choices: ["Red: warm", "Blue: cold"] });
    await state("ada", "needs-input");
    expect((await teams("approve", first.id)).code).not.toBe(0);
    await teams("approve", first.id, "--note", "2");
    const second = await approval(first);
    expect(second.summary).toContain("Why?");
    await teams("approve", second.id, "--note", "it is calm");
    await logged({
      asked: "item/tool/requestUserInput",
      answer: { answers: { color: { answers: ["\u001b[31mBlue"] }, why: { answers: ["it is calm"] } } },
    });
    await leadGot("was answered");
    await state("ada", "idle");
    // The answer does not reach its model as a message.
    expect(log().some(({ prompt }) => String(prompt).includes("it is calm"))).toBe(false);
  });

  it("uses the answer that a person gives first, on its own screen", async () => {
    const { spawn, leadGot, approval, approvals, type, teams } = await team();
    await spawn("question\nsay: was answered");
    const { id } = await approval();
    await type("yes");
    await leadGot("was answered");
    expect(await approvals()).toEqual([]);
    expect((await teams("approve", id, "--note", "1")).code).not.toBe(0);
  });

  it("asks for the fields of a form, and again after an invalid answer", async () => {
    const { spawn, teams, approval, logged } = await team();
    await spawn("form");
    const first = await approval();
    await teams("approve", first.id, "--note", "many");
    const again = await approval(first);
    expect(again.summary).toContain("Not a valid answer");
    await teams("approve", again.id, "--note", "3");
    const last = await approval(again);
    await teams("approve", last.id, "--note", "there");
    await logged({
      asked: "mcpServer/elicitation/request",
      answer: { action: "accept", content: { count: 3, place: "there" }, _meta: null },
    });
  });

  it("survives junk, half a frame, 10 MB of output, other threads, late tools and a request after the turn", async () => {
    const { spawn, state, leadGot, teams } = await team();
    await spawn("junk\nhalf\nbig\nhelper\nlate\nafter\nsay: still here");
    await leadGot("still here");
    await teams("send", "ada", "say: and after it");
    await leadGot("and after it");
    await state("ada", "idle");
  });
});
