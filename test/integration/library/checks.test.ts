import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ApproveOptions } from "../../../src/library/options.ts";
import { runTeam } from "../../../src/library/run-team.ts";
import { createTeam, listTeams, openTeam } from "../../../src/library/teams.ts";
import { openRequest } from "../../../src/team/requests/requests.ts";
import {
  codeOf,
  errorOf,
  libraryTeam,
  type PrivateOptions,
  privateOptions,
} from "../../support/library/library-team.ts";

/** Returns the config of the team, which no refused call may change. */
function configIn({ env }: PrivateOptions): string {
  return readFileSync(join(env.TEAMS_HOME ?? "", "teams/crew/config.json"), "utf8");
}

/** Returns the errors of calls that run at once. */
function errorsOf(calls: readonly Promise<unknown>[]): Promise<unknown[]> {
  return Promise.all(calls.map((call) => errorOf(call)));
}

describe("input of the library", () => {
  it.each([
    [{ maxTokens: Number.NaN }, "maxTokens cannot be NaN; nothing was done."],
    [{ maxTokens: 0 }, "maxTokens cannot be 0; nothing was done."],
    [{ maxTokens: 1.5 }, "maxTokens cannot be 1.5; nothing was done."],
    [{ maxCostUsd: -1 }, "maxCostUsd cannot be -1; nothing was done."],
    [{ maxCostUsd: Number.POSITIVE_INFINITY }, "maxCostUsd cannot be Infinity; nothing was done."],
  ])("refuses the budget %o", async (budget, message) => {
    const { team, options } = await libraryTeam();
    const before = configIn(options);
    const calls = [
      createTeam("other", { ...options, budget }),
      team.spawn("ada", { budget }),
      team.setBudget(budget),
      runTeam({ ...options, goal: "x", budget }),
    ];
    const error = expect.objectContaining({ code: "INVALID_INPUT", message });
    expect(await errorsOf(calls)).toEqual(calls.map(() => error));
    expect(configIn(options)).toBe(before);
    expect((await listTeams(options)).map(({ name }) => name)).toEqual(["crew"]);
  });

  it("refuses values that its types do not have", async () => {
    const { team, options } = await libraryTeam();
    const { id } = await team.tasks.add({ subject: "s" });
    const before = configIn(options);
    const wrong = "wrong" as never;
    const calls = [
      team.setMode("team-lead", wrong),
      team.spawn("ada", { permissionMode: wrong }),
      team.spawn("ada", { sandbox: wrong }),
      team.spawn("ada", { teammateMode: wrong }),
      team.spawn("ada", { placement: wrong }),
      team.resume({ teammateMode: wrong }),
      team.tasks.update(id, { status: "deleted" as never }),
      team.peek("team-lead", { lines: Number.NaN }),
      runTeam({ ...options, goal: "x", afterwards: wrong }),
      runTeam({ ...options, goal: "x", tools: [] }),
    ];
    expect(await Promise.all(calls.map((call) => codeOf(call)))).toEqual(calls.map(() => "INVALID_INPUT"));
    expect(configIn(options)).toBe(before);
    expect(await team.tasks.get(id)).toMatchObject({ status: "pending" });
  });

  it("refuses a value that is not a string, and leaves the task unchanged", async () => {
    const { team, options } = await libraryTeam();
    const { id } = await team.tasks.add({ subject: "s" });
    const before = await team.tasks.get(id);
    const wrong = 7 as never;
    const nothing = null as never;
    const calls = [
      team.tasks.add({ subject: wrong }),
      team.tasks.add({ subject: "s", description: wrong }),
      team.tasks.add({ subject: "s", activeForm: nothing }),
      team.tasks.update(id, { subject: wrong }),
      team.tasks.update(id, { subject: nothing }),
      team.tasks.update(id, { owner: wrong }),
      team.tasks.get(wrong),
      team.tasks.claim(wrong),
      team.send("team-lead", wrong),
      team.send("team-lead", "x", { summary: wrong }),
      team.send("team-lead", "x", { summary: nothing }),
      team.broadcast(undefined as never),
      runTeam({ ...options, goal: wrong }),
      ...["team", "model", "playbook", "record", "recording"].map((name) =>
        runTeam({ ...options, goal: "x", [name]: nothing }),
      ),
      runTeam({ ...options, goal: "x", recording: false as never }),
    ];
    expect(await Promise.all(calls.map((call) => codeOf(call)))).toEqual(calls.map(() => "INVALID_INPUT"));
    expect(await team.tasks.list()).toEqual([before]);
  });

  it("refuses a value with a NUL character, which no path and no argument can have", async () => {
    const options = privateOptions();
    const calls = [
      createTeam("t", { ...options, cwd: "/a\0b" }),
      runTeam({ ...options, goal: "x", systemPrompt: "a\0b" }),
    ];
    expect(await Promise.all(calls.map((call) => codeOf(call)))).toEqual(calls.map(() => "INVALID_INPUT"));
    expect(await listTeams(options)).toEqual([]);
  });

  it("refuses a directory that does not exist", async () => {
    const options = privateOptions();
    const cwd = join(options.cwd, "missing");
    const calls = [
      createTeam("t", { ...options, cwd }),
      openTeam("t", { ...options, cwd }),
      runTeam({ ...options, goal: "x", cwd }),
    ];
    const message = `${cwd} is not a directory; nothing was done.`;
    const error = expect.objectContaining({ code: "INVALID_INPUT", message });
    expect(await errorsOf(calls)).toEqual(calls.map(() => error));
  });

  it("resolves a directory of recordings relative to its own directory", async () => {
    const options = privateOptions();
    await createTeam("crew", { ...options, recording: "casts" });
    expect(configIn(options)).toContain(JSON.stringify(join(options.cwd, "casts")));
  });

  it.each<[ApproveOptions, string]>([
    [{ always: [] }, "The list of rules is empty; nothing was answered."],
    [{ save: "user" }, "There are no rules to save; nothing was answered."],
    [{ always: false, save: "user" }, "There are no rules to save; nothing was answered."],
    [{ mode: "plan" as never }, 'mode cannot be "plan"; nothing was done.'],
  ])("refuses the answer %o, and the request stays open", async (answer, message) => {
    const { team, ref } = await libraryTeam();
    const id = "perm-1-abcdefg";
    openRequest(ref, {
      ...{ id, kind: "permission", from: "dev", at: 1, summary: "Bash(touch a)" },
      payload: { tool: "Bash", input: { command: "touch a" } },
    });
    expect(await errorOf(team.approvals.approve(id, answer))).toMatchObject({
      code: "INVALID_INPUT",
      message,
    });
    expect((await team.approvals.list()).map((one) => one.id)).toEqual([id]);
  });
});
