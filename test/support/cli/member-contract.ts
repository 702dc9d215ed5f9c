import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type AdapterInput, hasOwnInbox } from "../../../src/adapter/adapter-schema.ts";
import { startTimeOf } from "../../../src/os/process/identity.ts";
import { eventually } from "../timing/eventually.ts";
import { type HabitContract, type HeardTeam, testHabits } from "./habit-tests.ts";
import { NOT_APPLICABLE, type Trait } from "./habits.ts";
import { memberTeam } from "./member-team.ts";

/** A channel with its stand-in, which acts on the lines of its prompts: `say: x`, `run: x`, `stay`, … */
export interface MemberContract extends Pick<HabitContract, "adapter" | "showDialog"> {
  readonly file: () => string;
  /** Keys of the log lines with the conversation's id, at its start and after a resume. */
  readonly conversation: readonly string[];
}

/** Defines the tests of every channel, without those whose trait is in `NOT_APPLICABLE`. */
export function testMemberContract(contract: MemberContract): void {
  describe(`member on the ${contract.adapter.channel} channel`, () => testsOf(contract));
}

function testsOf({ adapter, file, conversation, showDialog }: MemberContract): void {
  const without = NOT_APPLICABLE[adapter.channel];
  const hasOwnScreen = without["own screen"] === undefined;
  const endsSeen = without["turn ends"] === undefined;
  /** Its states between turns, and in a turn. */
  const [rest, work] = endsSeen ? ["idle", "running"] : ["unknown", "unknown"];
  const place = hasOwnScreen ? "tmux" : "process";
  const team = async (
    settings?: Readonly<Record<string, unknown>>,
    more: Partial<AdapterInput> = {},
  ): Promise<HeardTeam> => {
    const own = await memberTeam(file(), { ...adapter, ...more }, place, settings);
    // Without an idle notice, only its own log shows that it has got a text.
    return { ...own, heard: endsSeen ? own.leadGot : own.prompted };
  };
  /** Defines a test, unless the channel lacks one of its traits. */
  const when = (traits: Trait | readonly Trait[], title: string, test: () => Promise<void>): void => {
    if ([traits].flat().every((trait) => without[trait] === undefined)) it(title, test);
  };

  it("is refused in a version that its channel does not know, with the reason", async () => {
    const unsupported = { versions: ">=2", why: "It speaks another interface." };
    const { mark, spawn, state, ada, log } = await team({}, { unsupported, tested: ["1.2.3"] });
    mark("version", "fake 2.0.1");
    const spawned = await spawn("say: hi");
    if (spawned.code === 0) await state("ada", "crashed");
    const shown = spawned.code === 0 ? JSON.stringify(await ada()) : spawned.err;
    expect(shown).toMatch(/fake 2\.[\d.]+ was not started: It speaks another interface\./);
    expect(log()).toEqual([]);
  });

  it("gets its first message once, reports its last text in the idle notice, and gets the next message", async () => {
    const { spawn, state, heard, teams, log } = await team();
    const spawned = await spawn("say: hello from the other make");
    expect([spawned.code, spawned.err]).toEqual([0, ""]);
    await heard("hello from the other make");
    await state("ada", rest);
    await teams("send", "ada", "say: second");
    await heard("second");
    const prompts = log().flatMap(({ prompt }) => (typeof prompt === "string" ? [prompt] : []));
    expect(prompts.filter((prompt) => prompt.includes("hello from the other make"))).toHaveLength(1);
    expect(prompts[1]).not.toContain("You are ada");
  });

  when("approvals", "shows a request in teams approvals and obeys the answer", async () => {
    const { spawn, state, approval, teams, repo } = await team();
    await spawn("run: touch asked\nrun: touch refused");
    const first = await approval();
    expect(first.summary).toContain("touch asked");
    await state("ada", "needs-input");
    expect((await teams("approve", first.id)).code).toBe(0);
    expect((await teams("reject", (await approval(first)).id)).code).toBe(0);
    await state("ada", "idle");
    expect(["asked", "refused"].map((name) => existsSync(join(repo, name)))).toEqual([true, false]);
  });

  when("rules", "lets rules decide without a person", async () => {
    const { spawn, leadGot, approvals, repo } = await team({
      permissions: { allow: ["Bash(touch ruled:*)"], deny: ["Bash(touch denied:*)"] },
    });
    await spawn("run: touch ruled\nrun: touch denied\nsay: both decided");
    await leadGot("both decided");
    expect(await approvals()).toEqual([]);
    expect(["ruled", "denied"].map((name) => existsSync(join(repo, name)))).toEqual([true, false]);
  });

  when("team tools", "calls the team's tools in its own name, without permission requests", async () => {
    const { spawn, leadGot, inbox, approvals, teams } = await team();
    const tool = (name: string, input: object): string => `tool: ${name} ${JSON.stringify(input)}`;
    const message = { type: "message", recipient: "team-lead", content: "sent by a tool", summary: "s" };
    const task = { subject: "from outside", description: "d" };
    const sends = hasOwnInbox(adapter.channel) ? [] : [tool("SendMessage", message)];
    await spawn([tool("TaskCreate", task), ...sends, "say: used them"].join("\n"));
    await leadGot("used them");
    if (sends.length > 0) expect(await inbox()).toContain("sent by a tool");
    expect((await teams("task", "list")).out).toContain("from outside");
    expect(await approvals()).toEqual([]);
  });

  when(["own screen", "turn ends"], "reports a turn that a person typed in its own screen", async () => {
    const { spawn, state, type, leadGot } = await team();
    await spawn("say: first");
    await leadGot("first");
    await state("ada", "idle");
    await type("say: typed by hand");
    await leadGot("typed by hand");
    await state("ada", "idle");
  });

  testHabits({ adapter, showDialog, rest, work, team, when });

  it("takes the next message after an interrupt", async () => {
    const { spawn, state, teams, heard, prompted } = await team();
    await spawn("stay");
    await prompted("stay");
    await state("ada", work);
    expect((await teams("interrupt", "ada")).code).toBe(0);
    await state("ada", rest);
    await teams("send", "ada", "say: after it");
    await heard("after it");
  });

  when("unconfirmed interrupt", "counts as idle when its CLI does not end an interrupted turn", async () => {
    const { spawn, state, teams, inbox, prompted } = await team();
    await spawn("deaf\nstay");
    await prompted("stay");
    await teams("interrupt", "ada");
    await state("ada", "idle");
    expect(await inbox()).toContain("interrupted");
  });

  when(
    "account limits",
    "waits for the end of its account's limit, and then continues its turn automatically",
    async () => {
      const { spawn, state, leadGot, teams, prompted, inbox } = await team();
      await spawn("say: ready");
      await leadGot("ready");
      await teams("send", "ada", "limit: 3");
      await prompted("The limit of your account has ended.");
      await state("ada", "idle");
      const notices = (await inbox()).split("The limit of the model's account is reached");
      expect(notices).toHaveLength(2);
      expect(notices[1]).toMatch(/ada is paused until \d\d:\d\d, and then continues automatically/);
    },
  );

  when("account limits", "is paused at its account's limit until a person resumes it", async () => {
    const { spawn, state, leadGot, teams, ada, prompted, inbox } = await team({
      teams: { autoResume: false },
    });
    await spawn("say: ready");
    await leadGot("ready");
    await teams("send", "ada", "limit: 3600");
    await state("ada", "paused");
    const { pausedUntil = "", activity } = (await ada()) ?? {};
    expect(Math.abs(Date.parse(pausedUntil) - Date.now() - 3_600_000)).toBeLessThan(600_000);
    expect(activity).toMatch(/^account limit, until \d\d:\d\d; waits for teams resume --now$/);
    expect(await inbox()).toMatch(
      /ada is paused until a person resumes it \(the limit ends at \d\d:\d\d\): teams resume --now ada@crew/,
    );
    expect((await teams("resume", "--now", "ada")).code).toBe(0);
    await prompted("The limit of your account has ended.");
    await state("ada", "idle");
  });

  when(
    "budget in a turn",
    "stops in a turn that uses up its budget, and continues it with more",
    async () => {
      const { spawn, state, teams, inbox, prompted, ada, log } = await team({}, { reports: ["tokens"] });
      const spawned = await spawn("spend: 5000\nstay", "--max-tokens", "1000");
      expect([spawned.code, spawned.err]).toEqual([0, ""]);
      await state("ada", "paused");
      expect((await ada())?.activity).toBe("its budget is spent");
      expect((await inbox()).split("ada has used up its budget")).toHaveLength(2);
      expect(log().filter((line) => "prompt" in line)).toHaveLength(1);
      expect((await teams("budget", "ada", "--max-tokens", "100k")).code).toBe(0);
      await prompted("More budget is available now.");
      await state("ada", "idle");
      await teams("send", "ada", "say: after it");
      await prompted("after it");
    },
  );

  when("conversation", "continues its conversation after a crash and teams resume", async () => {
    const { spawn, state, teams, log, leadGot } = await team();
    await spawn("say: remember 42");
    await leadGot("remember 42");
    await state("ada", "idle");
    await teams("send", "ada", "exit: 3");
    await state("ada", "crashed");
    expect((await teams("resume")).code).toBe(0);
    const ids = (): unknown[] =>
      log().flatMap((line) => conversation.flatMap((key) => (key in line ? [line[key]] : [])));
    await eventually("the resumed conversation", () => ids().length > 1);
    expect(new Set(ids()).size).toBe(1);
  });

  it("ends its child processes on shutdown, after a last turn", async () => {
    const { spawn, state, teams, log, place, prompted } = await team();
    await spawn("child\nsay: started it");
    await prompted("child");
    await state("ada", rest);
    const child = Number(await eventually("the child", () => log().find((line) => "child" in line)?.child));
    expect(startTimeOf(child)).toBeDefined();
    const ended = await teams("shutdown", "ada", "--timeout", "180");
    expect([ended.code, ended.err]).toEqual([0, ""]);
    if (without.goodbye === undefined) {
      const last = log().findLast(({ prompt }) => String(prompt).includes("hutdown request"))?.prompt;
      expect(last).toContain("hutdown request");
      expect(last).not.toContain("You are ada");
    }
    const config = JSON.parse(readFileSync(place.paths("crew").config, "utf8")) as { members: unknown[] };
    expect(config.members).toMatchObject([{ name: "team-lead" }]);
    await eventually("the end of the child", () => startTimeOf(child) === undefined);
  });

  it("ends its child processes when it is killed during a turn", async () => {
    const { spawn, teams, log, prompted } = await team();
    await spawn("child\nstay");
    await prompted("stay");
    const child = await eventually("the child", () => log().find((line) => "child" in line)?.child);
    expect((await teams("kill", "ada", "--force")).code).toBe(0);
    await eventually("the end of the child", () => startTimeOf(Number(child)) === undefined);
  });

  when("own screen", "has exited after a person quits it in its screen", async () => {
    const { spawn, state, type, heard } = await team();
    await spawn("say: hi");
    await heard("hi");
    await state("ada", rest);
    await type("quit");
    await state("ada", "exited");
  });
}
