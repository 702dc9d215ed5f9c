import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { AdapterInput } from "../../../src/adapter/adapter-schema.ts";
import { hasEnvEntry, processTable } from "../../../src/os/process/process-table.ts";
import { standInTeam } from "../../support/cli/stand-in.ts";
import { scriptFile } from "../../support/processes/script-process.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { personInside, personOutside } from "../../support/tmux/terminal-user.ts";

const acp = scriptFile("cli/acp");
const appServer = scriptFile("cli/app-server");
const ACP: Omit<AdapterInput, "command"> = { channel: "acp", resume: "load", modes: { default: "ask" } };
const APP_SERVER: Omit<AdapterInput, "command"> = {
  channel: "app-server",
  resume: "resume",
  modelArgs: ["-m", "{model}"],
  efforts: ["high"],
};
const MAY_START = { permissions: { allow: ["Agent(cli:fake)"] } };

const tool = (name: string, input: unknown): string => `tool: ${name} ${JSON.stringify(input)}`;
const startAda = (prompt: string): string =>
  tool("Agent", { name: "ada", prompt, description: "helps", cli: "fake" });

interface Result {
  readonly outcome: string;
  readonly result: string;
}

async function boat(file: string, adapter: Omit<AdapterInput, "command">, settings: object = {}) {
  const own = await standInTeam(file, adapter, { teammateMode: "process", ...settings });
  const run = (goal: string, ...words: readonly string[]) =>
    own.teams("run", "--team", "boat", "--cli", "fake", "--json", ...words, goal);
  const prompts = (): readonly string[] =>
    own.log().flatMap(({ prompt }) => (typeof prompt === "string" ? [prompt] : []));
  const toolResults = (): string => JSON.stringify(own.log().filter((line) => "tool" in line));
  const approval = () =>
    eventually("a request", async () => {
      const listed = await own.teams("approvals", "--team", "boat", "--json");
      if (listed.code !== 0) return undefined;
      return listed.json<{ approvals: { id: string; summary: string }[] }>().approvals[0];
    });
  return { ...own, run, prompts, toolResults, approval };
}

describe("a CLI as the lead, over the Agent Client Protocol", () => {
  it("has the lead's tools, starts a teammate, gets its messages, and ends with its last text as the result", async () => {
    const { run, prompts, toolResults, log } = await boat(acp(), ACP, MAY_START);
    const goal = [
      tool("TaskCreate", { subject: "look", description: "d" }),
      startAda(`${tool("TaskUpdate", { taskId: "1", status: "completed", owner: "ada" })}\nsay: ada is done`),
      "say: the result of the boat",
    ].join("\n");
    const ended = await run(goal);
    expect([ended.code, ended.json<Result>()]).toMatchObject([
      0,
      { team: "boat", outcome: "completed", result: "the result of the boat" },
    ]);
    const [first = ""] = prompts();
    expect(first).toMatch(
      /^You lead\. [\s\S]*You are team-lead, the lead of the team "boat"[\s\S]*TaskCreate/,
    );
    expect(first).not.toMatch(/Agent without a name|gets your last text of each turn/);
    expect(prompts().some((text) => text.includes("ada is done"))).toBe(true);
    expect(toolResults()).toContain("teammate_spawned");
    expect(log().filter((line) => "session/new" in line)).toHaveLength(2);
  });

  it("asks before its own calls and before it starts a CLI, and runs its own subagents", async () => {
    const { run, teams, approval, repo, toolResults } = await boat(acp(), ACP);
    const ended = run(
      ["run: touch asked", tool("Agent", { prompt: "x" }), startAda("say: hi"), "say: over"].join("\n"),
    );
    const own = await approval();
    expect(own.summary).toBe("Bash(touch asked)");
    await teams("approve", own.id, "--team", "boat");
    const start = await eventually("the next request", async () => {
      const next = await approval();
      return next.id === own.id ? undefined : next;
    });
    expect(start.summary).toBe("Agent(ada (fake): helps)");
    await teams("reject", start.id, "--team", "boat");
    expect((await ended).json<Result>()).toMatchObject({ outcome: "completed", result: "over" });
    expect(existsSync(join(repo, "asked"))).toBe(true);
    expect(toolResults()).toContain("your own program runs the subagents");
    expect(toolResults()).not.toContain("teammate_spawned");
  });

  it("is resumed with its conversation after a crash, without naming the CLI again", async () => {
    const { run, teams, log, place } = await boat(acp(), ACP);
    const crashed = await run(`${tool("TaskCreate", { subject: "keep", description: "d" })}\nexit: 3`);
    expect(crashed.code).not.toBe(0);
    expect(crashed.err).toContain("teams run --resume --team boat");
    const config = (): string => readFileSync(place.paths("boat").config, "utf8");
    expect(config()).toContain('"_cli": "fake"');
    const done = tool("TaskUpdate", { taskId: "1", status: "completed" });
    const resumed = await teams(
      "run",
      "--resume",
      "--team",
      "boat",
      "--json",
      `${done}\nsay: it is finished`,
    );
    expect([resumed.code, resumed.err]).toEqual([0, ""]);
    expect(resumed.json<Result>()).toMatchObject({ result: "it is finished" });
    const ids = log().flatMap((line) => [line["session/new"], line["session/load"]].filter(Boolean));
    expect([ids.length, new Set(ids).size]).toEqual([2, 1]);
  });

  it("does not start teams' own agents without a model, and says why", async () => {
    const { run, toolResults } = await boat(acp(), ACP);
    await run(`${tool("Agent", { name: "ben", prompt: "x" })}\nsay: over`);
    expect(toolResults()).toMatch(/No model is set up for teams' own agents, so ben was not started/);
  });

  it("is refused before anything is created if it is unknown, not installed or cannot do what an option asks", async () => {
    const { teams } = await boat(acp(), ACP);
    const refused = async (...words: readonly string[]) =>
      (await teams("run", "--team", "boat", "--json", ...words, "goal")).error().message;
    expect(await refused("--cli", "nothing")).toContain('There is no CLI "nothing"');
    expect(await refused("--cli", "goose")).toContain("goose is not installed");
    expect(await refused("--cli", "fake", "--record", "x.json")).toContain("fake cannot lead with --record");
    expect(await refused("--cli", "fake", "--playbook", "x.json")).toContain("cannot lead with --playbook");
    expect(await refused("--cli", "fake", "--model", "scripted")).toContain("--model scripted");
    expect(await refused("--cli", "fake", "--system-prompt", "x")).toContain("its own system prompt");
    expect(await refused("--cli", "fake", "--max-tokens", "5")).toContain("does not report its tokens");
    expect(await refused("--effort", "high")).toContain("--effort only with --cli");
    expect((await teams("status", "--team", "boat")).code).not.toBe(0);
  });

  it("is refused in an unsupported version, before the team is created", async () => {
    const unsupported = { versions: ">=2", why: "It speaks another interface." };
    const { run, mark, teams, log } = await boat(acp(), { ...ACP, unsupported });
    mark("version", "fake 2.0.1");
    const why = "fake 2.0.1 was not started: It speaks another interface.";
    expect((await run("say: hi")).error()).toMatchObject({ code: "SPAWN_FAILED", message: why });
    expect((await teams("status", "--team", "boat")).code).not.toBe(0);
    expect(log()).toEqual([]);
  });
});

describe("a CLI with its own screen as the lead", () => {
  it("has the lead's terminal, where a person types; the result is printed after it has ended", async () => {
    const raw = { ...APP_SERVER, env: { STANDIN_RAW: "1" } };
    const { place, env, repo, log, logged, teams } = await boat(appServer(), raw);
    const person = personInside(
      place,
      [
        "run",
        "--once",
        "--cli",
        "fake",
        "--team",
        "boat",
        "--effort",
        "high",
        "--no-sidebar",
        "question\nsay: the answer",
      ],
      { env: { TEAMS_TEAM: env.TEAMS_TEAM }, cwd: repo },
    );
    await person.sees("the screen of the stand-in");
    await logged({ effort: "high" });
    await eventually("the dialog", async () => {
      const { out } = await teams("status", "--team", "boat", "--json");
      return out.includes("needs-input");
    });
    expect(person.screen()).not.toContain("boat");
    person.type("yes", "Enter");
    expect(await person.code()).toBe(0);
    // The terminal's modes are restored: each line begins at the margin. The result is printed once.
    expect(person.screen()).toMatch(/^the screen of the stand-in$[\s\S]*^the answer$/m);
    expect(person.screen().split("the answer")).toHaveLength(2);
    expect(log()[0]).toMatchObject({ "thread/start": expect.anything() });
  });

  it("leads in its own session for a person outside tmux, and ends with all its programs on SIGTERM", async () => {
    const { place, env, repo, logged, teams, log } = await boat(appServer(), APP_SERVER);
    const goal = "say: ready\nstay";
    const person = personOutside(
      place,
      ["run", "--cli", "fake", "--effort", "high", "--team", "boat", goal],
      {
        env: { TEAMS_TEAM: env.TEAMS_TEAM },
        cwd: repo,
      },
    );
    await person.sees("the screen of the stand-in");
    await logged({ effort: "high" });
    await eventually("the turn", () => log().some(({ prompt }) => String(prompt).includes("stay")));
    const { members } = (await teams("status", "--team", "boat", "--json")).json<{
      members: { name: string; pid: number }[];
    }>();
    const pid = members.find(({ name }) => name === "team-lead")?.pid ?? 0;
    process.kill(pid, "SIGTERM");
    await person.sees("To continue: teams run --resume --team boat");
    await person.code();
    await eventually("the end of its programs", () =>
      processTable().every((row) => !hasEnvEntry(row.pid, `STANDIN_HOME=${join(place.home, "stand-in")}`)),
    );
  });

  it("is kept with its team when a person quits it, and continues with run --resume", async () => {
    const { place, env, repo, log } = await boat(appServer(), APP_SERVER);
    const options = { env: { TEAMS_TEAM: env.TEAMS_TEAM }, cwd: repo };
    const person = personInside(place, ["run", "--cli", "fake", "--team", "boat", "--no-sidebar"], options);
    await person.sees("the screen of the stand-in");
    person.type("say: typed", "Enter");
    await eventually("the turn", () => log().some(({ prompt }) => prompt === "say: typed"));
    person.type("quit", "Enter");
    await person.code();
    await person.sees("To continue: teams run --resume --team boat");
    const again = personInside(place, ["run", "--resume", "--team", "boat", "--no-sidebar"], {
      ...options,
      session: "again",
    });
    await again.sees("the screen of the stand-in");
    const threads = log().flatMap((line) => [line["thread/start"], line["thread/resume"]].filter(Boolean));
    expect([threads.length, new Set(threads).size]).toEqual([2, 1]);
    again.type("quit", "Enter");
    await again.code();
  });

  it.each(["inbox", "hooks"] as const)(
    "is refused with the channel %s, which supports only teammates",
    async (channel) => {
      const { run } = await boat(appServer(), { channel });
      expect((await run("goal")).error()).toMatchObject({
        code: "INVALID_INPUT",
        message: expect.stringContaining("can only be a teammate"),
        hint: expect.stringContaining("--cli fake --acp"),
      });
    },
  );

  it("is refused without a terminal", async () => {
    const { run } = await boat(appServer(), APP_SERVER);
    expect((await run("goal")).error()).toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining("it needs a terminal"),
      hint: expect.stringContaining("--cli fake --acp"),
    });
  });
});
