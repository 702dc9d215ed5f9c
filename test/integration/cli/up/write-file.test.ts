import { mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { updateTeam } from "../../../../src/team/config/config.ts";
import { addMembers } from "../../../../src/team/members/members.ts";
import { teamRef, teamsHome } from "../../../../src/team/ref.ts";
import { cliIn } from "../../../support/processes/in-process-cli.ts";

const UP = ["--teammate-mode", "process"];

describe("teams up --template", () => {
  it.each(["review", "feature", "migration"])("%s writes a file that up accepts", async (name) => {
    const teams = cliIn();
    const written = await teams(["up", "--template", name, "-o", "team.json"]);
    expect(written).toMatchObject({
      code: 0,
      out: "Wrote team.json.\nNext: edit it, then teams up team.json --dry-run\n",
    });
    const plan = await teams(["up", "team.json", "--dry-run", "--json", "--model", "scripted", ...UP]);
    expect(plan.json()).toMatchObject({ team: name, new: true });
    expect(plan.json<{ members: object[]; tasks: object[] }>().tasks.length).toBeGreaterThan(2);
    expect((await teams(["up", "--template", name])).out).toBe(
      readFileSync(join(teams.directory, "team.json"), "utf8"),
    );
  });

  it("does not overwrite a file", async () => {
    const teams = cliIn();
    writeFileSync(join(teams.directory, "team.json"), "mine");
    const refused = await teams(["up", "--template", "review", "-o", "team.json", "--json"]);
    expect(refused.error()).toMatchObject({
      code: "INVALID_INPUT",
      message: "team.json already exists; nothing was written.",
    });
    expect(readFileSync(join(teams.directory, "team.json"), "utf8")).toBe("mine");
  });

  it.each([
    [["team.json", "--schema"], "accepts only one of"],
    [["--template", "review", "--from", "crew"], "accepts only one of"],
    [["team.json", "-o", "x"], "accepts -o only with"],
    [["--template", "novel"], "does not accept --template"],
  ])("refuses %j", async (words, why) => {
    expect((await cliIn()(["up", ...words, "--json"])).error().message).toContain(why);
  });
});

describe("teams up --from", () => {
  it("writes a file that declares the team as it is, so that up changes nothing", async () => {
    const teams = cliIn();
    const file = {
      name: "The Crew",
      description: `costs $\${5}`,
      permissionMode: "dontAsk",
      maxTokens: 5000,
      tasks: [
        { subject: "b", description: "…", metadata: { ticket: 7 } },
        { subject: "a", blockedBy: ["b"], owner: "team-lead" },
      ],
    };
    writeFileSync(join(teams.directory, "team.json"), JSON.stringify(file));
    expect((await teams(["up", "team.json", ...UP])).code).toBe(0);
    expect((await teams(["up", "--from", "the-crew"])).json()).toEqual({ ...file, members: [] });
    await teams(["up", "--from", "the-crew", "-o", "again.json"]);
    expect((await teams(["up", "again.json", "--json", ...UP])).json()).toMatchObject({
      changed: false,
      left: [],
    });
  });

  it("writes each member with its start options", async () => {
    const teams = cliIn();
    await teams(["create", "crew"]);
    const ref = teamRef(teamsHome(teams.env), "crew");
    mkdirSync(join(teams.directory, "src"));
    await addMembers(ref, [
      {
        ...{ name: "ada", agentType: "reviewer", model: "claude-opus-5", prompt: "Go.", mode: "acceptEdits" },
        ...{ cwd: join(teams.directory, "src"), allowedTools: ["Bash(git:*)"] },
        metadata: {
          _writes: ["src/**"],
          _budget: { maxTokens: 500, maxCostUsd: 2 },
          _sandbox: "required",
          ticket: 1,
        },
      },
      {
        name: "bob",
        cwd: "/",
        agentType: "general-purpose",
        model: "codex",
        metadata: { _cli: "codex" },
        planModeRequired: true,
      },
    ]);
    expect((await teams(["up", "--from", "crew"])).json()).toEqual({
      name: "crew",
      members: [
        {
          name: "ada",
          prompt: "Go.",
          agentType: "reviewer",
          model: "claude-opus-5",
          permissionMode: "acceptEdits",
          allowedTools: ["Bash(git:*)"],
          writes: ["src/**"],
          sandbox: "required",
          maxTokens: 500,
          maxCost: 2,
          cwd: "src",
          metadata: { ticket: 1 },
        },
        { name: "bob", prompt: "Wait for messages.", cli: "codex", plan: true, cwd: "/" },
      ],
    });
  });

  it("writes the proof of each task, without commands that no person has confirmed", async () => {
    const teams = cliIn();
    await teams(["create", "crew"]);
    const proof = ["--verify", "npm test", "--reviewer", "team-lead", "--touches", "src/**"];
    await teams(["task", "add", "First", ...proof]);
    await teams(["task", "add", "Second"]);
    const path = teamRef(teamsHome(teams.env), "crew").paths.task("2");
    const second = JSON.parse(readFileSync(path, "utf8")) as object;
    writeFileSync(path, JSON.stringify({ ...second, metadata: { _verify: "curl evil.example" } }));
    const { out, err } = await teams(["up", "--from", "crew"]);
    expect(JSON.parse(out)).toMatchObject({
      tasks: [
        { subject: "First", verify: "npm test", reviewer: "team-lead", touches: ["src/**"] },
        { subject: "Second" },
      ],
    });
    expect(out).not.toContain("evil");
    expect(err).toBe("No person has confirmed the verify command of #2, so it is left out.\n");
  });

  it("names the tasks that a file cannot contain", async () => {
    const teams = cliIn();
    await teams(["create", "crew"]);
    await teams(["task", "add", "same"]);
    await teams(["task", "add", "same"]);
    await teams(["task", "add", "other"]);
    const ref = teamRef(teamsHome(teams.env), "crew");
    await updateTeam(ref, (config) => ({ ...config, description: "x" }));
    // Too old to be a file that another program is still writing.
    writeFileSync(ref.paths.task("3"), '{"id":"3","sub');
    utimesSync(ref.paths.task("3"), 1, 1);
    const { err, out } = await teams(["up", "--from", "crew"]);
    expect(err.split("\n")).toEqual([
      "1 task is left out: another one has the same subject.",
      "Task #3 cannot be read and is omitted: teams doctor",
      "",
    ]);
    expect(JSON.parse(out)).toMatchObject({ description: "x", tasks: [{ subject: "same" }] });
  });
});
