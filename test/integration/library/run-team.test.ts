import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { RunOptions } from "../../../src/library/reports.ts";
import { runTeam } from "../../../src/library/run-team.ts";
import { openTeam } from "../../../src/library/teams.ts";
import type { TeamEvent } from "../../../src/library/values.ts";
import { updateTeam } from "../../../src/team/config/config.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import {
  errorOf,
  libraryTeam,
  type PrivateOptions,
  privateOptions,
} from "../../support/library/library-team.ts";
import { eventually } from "../../support/timing/eventually.ts";

/** Returns the options of a run without tmux, whose lead plays these turns. */
function runOf(...turns: readonly object[]): RunOptions {
  return runIn(privateOptions(), ...turns);
}

function runIn(options: PrivateOptions, ...turns: readonly object[]): RunOptions {
  writeFileSync(
    join(options.cwd, "play.json"),
    JSON.stringify({ version: 1, agents: { "team-lead": turns } }),
  );
  return { ...options, playbook: "play.json", teammateMode: "process" };
}

describe("runTeam", () => {
  it("takes a goal that is longer than an argument, and begins with a dash", async () => {
    const goal = `- Read this:\n${"a line of the goal\n".repeat(20_000)}The end.`;
    const run = runOf({ on: { matches: "- Read this:[^]*The end\\." }, say: "I read all of it." });
    expect(await runTeam({ ...run, goal })).toMatchObject({
      outcome: "completed",
      result: "I read all of it.",
    });
  });

  it("refuses a system prompt that is longer than an argument", async () => {
    const run = runOf({ say: "Done." });
    const long = "x".repeat(128_001);
    for (const prompts of [{ systemPrompt: long }, { appendSystemPrompt: long }])
      expect(await errorOf(runTeam({ ...run, ...prompts }))).toMatchObject({
        code: "INVALID_INPUT",
        message: expect.stringMatching(/ystemPrompt is longer than 128000 bytes; nothing was done\.$/),
      });
    const longest = await runTeam({ ...run, appendSystemPrompt: long.slice(1) });
    expect(longest.outcome).toBe("completed");
  });

  it("takes the goal `-` as it is", async () => {
    const run = runOf({ say: "I heard {{input}}" });
    expect((await runTeam({ ...run, goal: "-" })).result).toBe("I heard -");
  });

  it("passes `onEvent` one event after the other, and resolves after the last", async () => {
    const seen: TeamEvent[] = [];
    let isBusy = false;
    const { team } = await runTeam({
      ...runOf({ say: "Done." }),
      onEvent: async (event) => {
        expect(isBusy).toBe(false);
        isBusy = true;
        await new Promise(setImmediate);
        isBusy = false;
        seen.push(event);
      },
    });
    expect(isBusy).toBe(false);
    expect(seen.map(({ ts }) => ts)).toEqual(seen.map(({ ts }) => ts).sort());
    expect(seen).toContainEqual(expect.objectContaining({ type: "agent", what: "turn_ended", team }));
  });

  it.each([
    [
      "at once",
      (error: Error) => () => {
        throw error;
      },
    ],
    ["later", (error: Error) => () => Promise.reject(error)],
  ])(
    "is interrupted by an error of `onEvent` that comes %s, and throws it as it is",
    async (_when, failing) => {
      const own = Object.assign(new Error("my disk is full"), { code: "ENOSPC", syscall: "write" });
      const run = runOf({ say: "Done.", delayMs: 600_000 });
      expect(await errorOf(runTeam({ ...run, onEvent: failing(own) }))).toBe(own);
    },
  );

  it("refuses the name of another team, and gives none of its events", async () => {
    const { team, options } = await libraryTeam();
    const seen: TeamEvent[] = [];
    const run = runTeam({ ...options, team: "crew", goal: "x", onEvent: (event) => void seen.push(event) });
    const refused = errorOf(run);
    await team.tasks.add({ subject: "of the other team" });
    expect(await refused).toMatchObject({ code: "TEAM_EXISTS", details: { team: "crew" } });
    expect(seen).toEqual([]);
  });

  it("gives the events of the new team if another team shows the same name", async () => {
    const { team, ref, options } = await libraryTeam();
    await updateTeam(ref, (config) => ({ ...config, displayName: "docs" }));
    const seen: TeamEvent[] = [];
    const run = runTeam({
      ...{ ...runIn(options, { say: "Done." }), team: "docs" },
      onEvent: (event) => void seen.push(event),
    });
    await team.tasks.add({ subject: "of the other team" });
    expect(await run).toMatchObject({ team: "docs", outcome: "completed" });
    expect(new Set(seen.map((event) => event.team))).toEqual(new Set(["docs"]));
    expect(seen).toContainEqual(expect.objectContaining({ type: "agent", what: "turn_ended" }));
  });

  it("gives the events of a run that is over before this process can look", async () => {
    const options = privateOptions();
    const [started, ended] = [join(options.cwd, "started"), join(options.cwd, "ended")];
    const program = join(options.cwd, "teams.cjs");
    writeFileSync(
      program,
      `const { writeFileSync } = require("node:fs");
       writeFileSync(${JSON.stringify(started)}, "");
       const args = [${JSON.stringify(options.program)}, ...process.argv.slice(2)];
       const { status } = require("node:child_process").spawnSync(process.execPath, args, { stdio: "inherit" });
       writeFileSync(${JSON.stringify(ended)}, "");
       process.exit(status);`,
    );
    const seen: TeamEvent[] = [];
    const run = runTeam({
      ...{ ...runIn(options, { say: "Done." }), program, team: "docs" },
      onEvent: (event) => void seen.push(event),
    });
    await eventually("the run's start", () => existsSync(started));
    // This process does nothing until the run has deleted its team.
    const sleeping = new Int32Array(new SharedArrayBuffer(4));
    for (const deadline = performance.now() + 180_000; !existsSync(ended); Atomics.wait(sleeping, 0, 0, 5))
      if (performance.now() > deadline) throw new Error("The run did not end.");
    expect(await run).toMatchObject({ team: "docs", outcome: "completed" });
    expect(seen).toContainEqual(expect.objectContaining({ type: "agent", what: "turn_ended" }));
  });

  it("passes each option as the command line expects it", async () => {
    const options = privateOptions();
    const program = join(options.cwd, "teams.cjs");
    const printed = '{ team: "docs", outcome: "completed", result: JSON.stringify(process.argv.slice(2)) }';
    writeFileSync(program, `console.log(JSON.stringify(${printed}))`);
    const { result } = await runTeam({
      ...options,
      program,
      goal: "x",
      team: "docs",
      model: "opus",
      playbook: "play.json",
      record: "made.json",
      permissionMode: "plan",
      teammateMode: "in-process",
      systemPrompt: "You lead.",
      appendSystemPrompt: "--slowly",
      budget: { maxTokens: 5_000, maxCostUsd: 0.0000025 },
      allowedTools: ["Read", "Bash(git:*)"],
      disallowedTools: ["WebFetch"],
      tools: ["Read", "Bash"],
      delegate: true,
      debug: true,
      recording: "casts",
      afterwards: "keep",
    });
    expect(JSON.parse(result)).toEqual([
      ...["run", "--json", "--team=docs", "--model=opus", "--playbook=play.json", "--record=made.json"],
      ...["--permission-mode=plan", "--teammate-mode=in-process", "--system-prompt=You lead."],
      ...["--append-system-prompt=--slowly", "--max-tokens=5000", "--max-cost=0.000002500"],
      ...["--allowed-tools=Read", "--allowed-tools=Bash(git:*)", "--disallowed-tools=WebFetch"],
      ...["--tools=Read", "--tools=Bash", "--delegate", "--debug", "--rec=casts", "--keep", "-"],
    ]);
  });

  it("applies the options to its lead, and keeps the team", async () => {
    const options = privateOptions();
    await runTeam({
      ...runIn(options, { say: "Done." }),
      team: "docs",
      record: "made.json",
      permissionMode: "acceptEdits",
      systemPrompt: "You lead.",
      appendSystemPrompt: "--slowly",
      budget: { maxTokens: 500_000 },
      allowedTools: ["Bash(git:*)"],
      disallowedTools: ["WebFetch"],
      tools: ["Read", "Bash"],
      afterwards: "keep",
    });
    const { members, budget } = await (await openTeam("docs", options)).status();
    expect(members).toMatchObject([{ name: "team-lead", mode: "acceptEdits" }]);
    expect(budget).toMatchObject({ maxTokens: 500_000 });
    const { config } = teamRef(teamsHome(options.env), "docs").paths;
    expect(JSON.parse(readFileSync(config, "utf8"))).toMatchObject({
      members: [{ allowedTools: ["Bash(git:*)"], disallowedTools: ["WebFetch"] }],
    });
    expect(JSON.parse(readFileSync(join(options.cwd, "made.json"), "utf8"))).toMatchObject({ version: 1 });
  });

  it("reports a mistake that only the lead finds", async () => {
    expect(await errorOf(runTeam({ ...runOf(), playbook: "missing.json" }))).toMatchObject({
      code: "INVALID_INPUT",
    });
  });

  it("returns the time of a verify command in milliseconds", async () => {
    const options = privateOptions();
    const program = join(options.cwd, "teams.cjs");
    const task = {
      ...{ id: "1", subject: "s", status: "completed", blockedBy: [] },
      ...{ said: true, shown: "passed" },
    };
    const verifyRun = { outcome: "passed", tail: "", directory: "/", at: "2026-11-23T22:25:00.000Z", ms: 5 };
    const printed = {
      ...{ team: "run-1", outcome: "completed", result: "Done." },
      tasks: [
        { ...task, verifyRun },
        { ...task, verifyRun: null },
        // A time outside the calendar.
        { ...task, verifyRun: { ...verifyRun, at: null } },
      ],
    };
    writeFileSync(program, `console.log(${JSON.stringify(JSON.stringify(printed))})`);
    const { tasks } = await runTeam({ ...options, program, goal: "x" });
    const times = [Date.UTC(2026, 10, 23, 22, 25), undefined, Number.NaN];
    expect(tasks?.map((one) => one.verifyRun?.at)).toEqual(times);
  });

  it("is interrupted by the end of its lead, and names the kept team", async () => {
    const run = runOf({ say: "Done.", delayMs: 600_000 });
    const onEvent = async (event: TeamEvent): Promise<void> => {
      if (event.type !== "agent" || event.what !== "turn_started") return;
      const [lead] = (await (await openTeam("docs", run)).status()).members;
      if (typeof lead?.pid !== "number") throw new Error("The lead has no process.");
      process.kill(lead.pid, "SIGTERM");
    };
    expect(await errorOf(runTeam({ ...run, team: "docs", onEvent }))).toMatchObject({
      code: "INTERRUPTED",
      message: "The run was interrupted; docs is kept.",
      details: { team: "docs", outcome: "interrupted" },
    });
  });

  it("is interrupted by its signal", async () => {
    const stop = new AbortController();
    const run = runOf({ say: "Done.", delayMs: 600_000 });
    const onEvent = (): void => stop.abort("enough");
    expect(await errorOf(runTeam({ ...run, onEvent, signal: stop.signal }))).toMatchObject({
      code: "INTERRUPTED",
      cause: "enough",
    });
  });
});
