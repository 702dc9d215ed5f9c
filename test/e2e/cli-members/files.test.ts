import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { AdapterInput } from "../../../src/adapter/adapter-schema.ts";
import { testMemberContract } from "../../support/cli/member-contract.ts";
import { memberTeam } from "../../support/cli/member-team.ts";
import { scriptFile } from "../../support/processes/script-process.ts";
import { eventually } from "../../support/timing/eventually.ts";

const file = scriptFile("cli/files");
const ADAPTER: Omit<AdapterInput, "command"> = {
  channel: "files",
  resume: "resume",
  modes: { default: "default" },
  firstMessageAfter: "tools",
  reports: ["tokens"],
};

testMemberContract({ adapter: ADAPTER, file, conversation: ["new", "resumed"] });

async function team(settings: Readonly<Record<string, unknown>> = {}) {
  const own = await memberTeam(file(), ADAPTER, "tmux", settings);
  /** Waits until the member is shown as waiting for a person, which takes ten seconds. */
  const blocked = (): Promise<unknown> =>
    eventually("the blocked member", async () =>
      (await own.teams("status", "--json")).out.includes('"needs-input"'),
    );
  const press = async (key: string): Promise<void> => {
    own.place.tmux("send-keys", "-t", await own.paneShowing(), key);
  };
  return { ...own, blocked, press };
}

describe("Qwen over its files", () => {
  it("works like any other member: first message, mode, last words, tokens", async () => {
    const { spawn, state, log, leadGot, teams, repo, paneShowing } = await team();
    const spawned = await spawn("say: hello from the other make");
    expect([spawned.code, spawned.err]).toEqual([0, ""]);
    await leadGot("hello from the other make");
    await state("ada", "idle");
    const started = log().find((line) => "new" in line);
    expect(started).toMatchObject({ cwd: repo });
    expect(started?.args).toEqual(expect.arrayContaining(["--approval-mode", "default"]));
    const [first] = log().flatMap(({ prompt }) => (typeof prompt === "string" ? [prompt] : []));
    expect(first).toMatch(/You are ada, a teammate in the team "crew"[\s\S]*say: hello/);
    await paneShowing();
    await teams("send", "ada", "say: second");
    await leadGot("second");
    const { members } = (await teams("status", "--json")).json<{ members: Record<string, unknown>[] }>();
    expect(members.find(({ name }) => name === "ada")).toMatchObject({ tokens: { input: 20, output: 10 } });
  });

  it("gets no text that it would run as a shell command or slash command, or include as a file", async () => {
    const { spawn, leadGot, log } = await team();
    await spawn("say: over\n/quit\n@secret and a@b.c");
    await leadGot("over");
    const [first] = log().flatMap(({ prompt }) => (typeof prompt === "string" ? [prompt] : []));
    expect(first).toMatch(/^exit #/);
    expect(first).toMatch(/^\\@secret and a@b\.c$/m);
  });

  it("asks through teams approvals, gets the answer, and lets rules decide without a person", async () => {
    const { spawn, state, approval, teams, repo, prompted } = await team({
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
    expect((await teams("reject", edit.id, "--note", "not now")).code).toBe(0);
    await prompted("file.txt): not now");
    await state("ada", "idle");
    expect(["asked", "ruled", "denied", "file.txt"].map((name) => existsSync(join(repo, name)))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it("withdraws a request that the person answers on its own screen", async () => {
    const { spawn, approval, approvals, type, leadGot, repo, log } = await team();
    await spawn("run: touch here\nsay: went on");
    await approval();
    await type("yes");
    await leadGot("went on");
    expect(existsSync(join(repo, "here"))).toBe(true);
    expect(await approvals()).toEqual([]);
    expect(log().filter((line) => "answered" in line)).toEqual([]);
  });

  it("withdraws a request that the person refuses on its own screen, and reports an interrupted turn", async () => {
    const { spawn, state, approval, approvals, press, inbox } = await team();
    await spawn("run: touch here\nsay: never");
    await approval();
    await press("Escape");
    await state("ada", "idle");
    expect(await approvals()).toEqual([]);
    expect(await inbox()).toContain("interrupted");
  });

  it("survives odd and half events, 10 MB of output, late results and requests after the turn or of subagents", async () => {
    const { spawn, state, leadGot, teams, approvals, logged, repo } = await team();
    await spawn("odd\nhalf\nbig\nforeign\nlate\nauto: true\nsay: still here");
    await leadGot("still here");
    await state("ada", "idle");
    expect(await approvals()).toEqual([]);
    await teams("send", "ada", "after");
    await logged({ after: false });
    expect(existsSync(join(repo, "after"))).toBe(false);
  });

  it("shows a hostile request as one line", async () => {
    const { spawn, approval } = await team();
    await spawn("hostile");
    expect((await approval()).summary).not.toMatch(/\p{Cc}/u);
  });

  it("reports a turn that failed", async () => {
    const { spawn, leadGot, inbox } = await team();
    await spawn("fail");
    await leadGot("the fault of the stand-in");
    expect(await inbox()).toContain("failed");
  });

  it("is interrupted by Escape while its model answers and while a command runs, and then takes the next message", async () => {
    const { spawn, state, teams, leadGot, prompted } = await team();
    await spawn("stay");
    await prompted("stay");
    expect((await teams("interrupt", "ada")).code).toBe(0);
    await state("ada", "idle");
    await teams("send", "ada", "auto: stay\nsay: never");
    await prompted("auto: stay");
    expect((await teams("interrupt", "ada")).code).toBe(0);
    await state("ada", "idle");
    await teams("send", "ada", "say: after it");
    await leadGot("after it");
  });

  it("is interrupted without a key while it asks", async () => {
    const { spawn, state, approval, approvals, teams, log, repo } = await team();
    await spawn("run: touch asked\nsay: never");
    await approval();
    expect((await teams("interrupt", "ada")).code).toBe(0);
    await state("ada", "idle");
    expect(await approvals()).toEqual([]);
    expect(log().filter((line) => "escape" in line)).toEqual([]);
    expect(existsSync(join(repo, "asked"))).toBe(false);
  });

  it("is idle after an interrupt even if its turn does not end, and gets no message during that turn", async () => {
    const { spawn, state, logged, teams, inbox, prompted, log, blocked } = await team();
    await spawn("deaf\nstay");
    await prompted("stay");
    await teams("interrupt", "ada");
    await logged({ escape: true });
    await state("ada", "idle");
    expect(await inbox()).toContain("interrupted");
    await teams("send", "ada", "say: second");
    await blocked();
    expect(JSON.stringify(log())).not.toContain("second");
  });

  it("gets its text again if an old version drops it", async () => {
    const { spawn, mark, leadGot, log } = await team();
    mark("old");
    await spawn("say: arrived");
    await leadGot("arrived");
    expect(log().filter((line) => "dropped" in line)).toHaveLength(1);
    expect(log().filter((line) => "prompt" in line)).toHaveLength(1);
  });

  it("needs input when a dialog delays a message", async () => {
    const { spawn, blocked, type, leadGot, teams } = await team();
    await spawn("modal\nsay: over");
    await leadGot("over");
    await teams("send", "ada", "say: after the dialog");
    await blocked();
    await type("");
    await leadGot("after the dialog");
  });

  it("gets its text again when the person leaves its shell mode", async () => {
    const { spawn, state, teams, type, leadGot, log } = await team();
    await spawn("shell");
    await state("ada", "idle");
    await teams("send", "ada", "say: arrived");
    await eventually("the lost text", () => log().some((line) => "executed" in line));
    await type("");
    await leadGot("arrived");
    expect(log().filter(({ prompt }) => String(prompt).includes("arrived"))).toHaveLength(1);
  });

  it("waits for the person when its model has a question", async () => {
    const { spawn, state, type, leadGot, teams } = await team();
    await spawn("question\nsay: heard");
    await state("ada", "needs-input");
    expect((await teams("wait", "ada", "--timeout", "0.1")).err).toContain(
      "ada is waiting for you: its model has a question",
    );
    await type("yes");
    await leadGot("heard");
  });

  it("removes its files when it ends", async () => {
    const { spawn, state, teams, log } = await team();
    await spawn("say: hi");
    await state("ada", "idle");
    // ada is idle before her program has started.
    const begun = await eventually("the start of the program", () => log().find((line) => "new" in line));
    const args = begun.args as readonly string[];
    const events = args[args.indexOf("--json-file") + 1] ?? "";
    expect(existsSync(events)).toBe(true);
    expect((await teams("shutdown", "ada", "--timeout", "180")).code).toBe(0);
    await eventually("the removal of its files", () => !existsSync(events));
  });

  it("is not started when its program ends at once", async () => {
    const { spawn, approval, mark, state } = await team();
    mark("broken");
    await spawn("say: hi");
    await state("ada", "crashed");
    expect((await approval()).summary).toContain("fake did not start: it ended with exit code 1");
  });
});
