import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { addMembers } from "../../../src/team/members/members.ts";
import { writePlace } from "../../../src/team/records/read-records.ts";
import { writeStatus } from "../../../src/team/records/write-records.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { openRequest } from "../../../src/team/requests/requests.ts";
import { displayWidth } from "../../../src/text/cell-width.ts";
import { type Cli, cliIn } from "../../support/processes/in-process-cli.ts";
import { deadProcess, statusOf } from "../../support/team/status-records.ts";

const KEY = { ANTHROPIC_API_KEY: "sk-test" };

/** Creates a team with the running teammate dev. */
async function running(teams: Cli, name: string): Promise<ReturnType<typeof teamRef>> {
  await teams(["create", name]);
  const ref = teamRef(teamsHome(teams.env), name);
  await addMembers(ref, [{ name: "dev", cwd: teams.directory }]);
  writeStatus(ref, "dev", statusOf());
  return ref;
}

describe("teams without a command", () => {
  it("says that no team runs, what is missing, and how to start", async () => {
    const teams = cliIn();
    const bin = join(teams.directory, "bin");
    mkdirSync(bin);
    const bare = await teams([], { env: { PATH: bin } });
    expect([bare.code, bare.err]).toEqual([0, ""]);
    expect(bare.out).toContain("No team is running.");
    expect(bare.out).toContain("tmux is not installed");
    expect(bare.out).toContain("Set ANTHROPIC_API_KEY.\n");
    expect(bare.out).toMatch(/\n {2}teams run +watch the built-in audit/);
    expect(bare.out).toMatch(/\n {2}teams doctor +/);
    expect(bare.out).toMatch(/\n {2}teams --help +all commands\n$/);
    const withProgram = async (name: string): Promise<string> => {
      writeFileSync(join(bin, name), "", { mode: 0o755 });
      return (await teams([], { env: { PATH: bin } })).out;
    };
    expect(await withProgram("tmux")).not.toContain("tmux is not installed");
    // Claude's own screen cannot lead.
    expect(await withProgram("claude")).toContain("then teams spawn <agent> --cli claude\n");
    expect(await withProgram("claude-agent-acp")).toContain('teams run --cli claude --acp "<goal>"');
    expect(await withProgram("codex")).toContain('Or let codex lead: teams run --cli codex "<goal>"');
    const ready = await teams([], { env: { PATH: bin, ...KEY } });
    expect(ready.out).toMatch(/\n {2}teams run "<goal>" +a lead works on a goal/);
    expect(ready.out).not.toContain("teams doctor");
  });

  it("reads the key in the settings, as agents do, and names the model as missing if they cannot be read", async () => {
    const teams = cliIn();
    mkdirSync(teams.root, { recursive: true });
    const settings = (text: string): void => writeFileSync(join(teams.root, "settings.json"), text);
    settings(JSON.stringify({ env: KEY }));
    expect((await teams([])).out).toMatch(/\n {2}teams run "<goal>" +a lead works on a goal/);
    settings(JSON.stringify({ env: { ANTHROPIC_API_KEY: "" } }));
    expect((await teams([], { env: KEY })).out).toContain("No model is set up");
    settings("{");
    expect((await teams([])).out).toContain("No model is set up");
  });

  it("names running teams, requests that wait for the user, and the stopped team of this directory", async () => {
    const teams = cliIn();
    const one = await running(teams, "one");
    const request = { kind: "plan", from: "dev", summary: "a plan", payload: {} } as const;
    openRequest(one, { id: "plan-1", at: 1, ...request });
    const alone = await teams([], { env: KEY });
    expect(alone.out).toMatch(/^TEAM +STATE +TEAMMATES/);
    expect(alone.out).toMatch(/\none +idle +dev +1 waits/);
    expect(alone.out).toMatch(/\n {2}teams approvals dev +plan of dev: a plan\n/);
    expect(alone.out).toMatch(/\n {2}teams attach +/);
    await running(teams, "two");
    const both = await teams([], { env: KEY });
    expect(both.out).toMatch(/\n {2}teams approvals dev@one +plan of dev: a plan\n/);
    expect(both.out).toMatch(/\n {2}teams attach <team> +/);
    writeStatus(one, "dev", statusOf({ process: deadProcess() }));
    const here = await teams([], { env: { ...KEY, PWD: teams.directory } });
    expect(here.out).toMatch(/\n {2}teams resume one +continue the team of this directory/);
    expect((await teams(["--json"], { env: { ...KEY, PWD: teams.directory } })).json()).toMatchObject({
      teams: [{ name: "two", state: "idle" }],
      waiting: [],
      missing: expect.any(Array),
      next: expect.arrayContaining([{ command: "teams resume one", why: expect.any(String) }]),
    });
  });

  it("names teams attach only for a team that may have a pane", async () => {
    const teams = cliIn();
    const ref = await running(teams, "one");
    writeStatus(ref, "dev", statusOf({ instance: "i" }));
    writePlace(ref, "dev", { instance: "i", backend: "process", spawnedAt: 1 });
    const commands = async (): Promise<string[]> =>
      (await teams(["--json"], { env: KEY }))
        .json<{ next: { command: string }[] }>()
        .next.map(({ command }) => command);
    expect(await commands()).not.toContain("teams attach");
    expect(await commands()).toContain("teams status");
    writePlace(ref, "dev", { instance: "i", backend: "tmux", paneId: "%1", spawnedAt: 1 });
    expect(await commands()).toContain("teams attach");
  });

  it("shows every command whole, and no row wider than the terminal", async () => {
    const teams = cliIn();
    await running(teams, "one");
    const { out } = await teams([], { terminal: true, env: { ...KEY, NO_COLOR: "1" } });
    expect(out.split("\n").filter((row) => displayWidth(row) > 80)).toEqual([]);
    expect(out).toMatch(/\n {2}teams run "<goal>" +/);
  });
});
