import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PERMISSION_MODES } from "../../../src/schema/permission-modes.ts";
import { readTeam } from "../../../src/team/config/config.ts";
import { history } from "../../../src/team/mailbox/history.ts";
import { addMembers, findMember } from "../../../src/team/members/members.ts";
import { grantedMode } from "../../../src/team/members/permission-mode.ts";
import { type TeamRef, teamRef } from "../../../src/team/ref.ts";
import { type Cli, cliIn } from "../../support/processes/in-process-cli.ts";

async function teamOf(): Promise<{ readonly cli: Cli; readonly ref: TeamRef }> {
  const cli = cliIn();
  await cli(["create", "crew"]);
  const ref = teamRef({ root: cli.root, runtime: join(cli.directory, "runtime", "teams") }, "crew");
  await addMembers(ref, [{ name: "dev", cwd: cli.directory }]);
  return { cli, ref };
}

const member = (ref: TeamRef, name: string) => findMember(readTeam(ref), name);
const messages = async (ref: TeamRef, name: string) =>
  (await history(ref, name, { all: true })).map(({ text }) => JSON.parse(text) as object);

describe("teams mode", () => {
  it.each(PERMISSION_MODES)("sets %s for an agent, now and for its next start", async (mode) => {
    const { cli, ref } = await teamOf();
    const done = await cli(["mode", "dev", mode, "--json"]);
    expect(done.json()).toEqual({ name: "dev", mode, before: null });
    expect(await messages(ref, "dev")).toMatchObject([{ type: "mode_set_request", mode, from: "team-lead" }]);
    expect(grantedMode(member(ref, "dev"))).toBe(mode);
    expect((await cli(["mode", "dev@crew", "plan", "--json"])).json()).toMatchObject({ before: mode });
  });

  it("changes the lead's mode in the team config, without a message", async () => {
    const { cli, ref } = await teamOf();
    expect((await cli(["mode", "team-lead", "delegate"])).out).toBe("team-lead is now in mode delegate.\n");
    expect(member(ref, "team-lead").mode).toBe("delegate");
    expect(await messages(ref, "team-lead")).toEqual([]);
  });

  it.each([
    [["dev", "root"], {}, "INVALID_INPUT"],
    [["nobody", "plan"], {}, "AGENT_NOT_FOUND"],
    [["dev", "plan", "--as", "dev"], {}, "NOT_LEAD"],
    [["dev", "plan"], { TEAMS_AGENT: "dev@crew" }, "NOT_LEAD"],
    [["dev", "acceptEdits"], { TEAMS_AGENT: "team-lead@crew" }, "PERMISSION_DENIED"],
    [["team-lead", "plan"], { TEAMS_AGENT: "team-lead@crew" }, "PERMISSION_DENIED"],
    [["dev", "bypassPermissions"], { CLAUDE_CODE_BYPASS_PERMISSIONS_MODE: "false" }, "PERMISSION_DENIED"],
  ])("refuses %j with %j, and changes nothing", async (words, env, code) => {
    const { cli, ref } = await teamOf();
    const refused = await cli(["mode", ...words, "--json"], { env });
    expect(refused.error().code).toBe(code);
    expect(grantedMode(member(ref, "dev"))).toBeUndefined();
    expect(await messages(ref, "dev")).toEqual([]);
  });

  it("lets a lead agent set a mode that allows no more than its own", async () => {
    const { cli } = await teamOf();
    const env = { TEAMS_AGENT: "team-lead@crew" };
    expect((await cli(["mode", "dev", "plan"], { env })).code).toBe(0);
  });

  it.each([
    ["the user's settings", (cli: Cli) => cli.root],
    ["settings of the agent's directory, even untrusted,", (cli: Cli) => join(cli.directory, ".claude")],
  ])("refuses bypassPermissions if %s forbid it", async (_, directory) => {
    const { cli } = await teamOf();
    mkdirSync(directory(cli), { recursive: true });
    const settings = { permissions: { disableBypassPermissionsMode: "disable" } };
    writeFileSync(join(directory(cli), "settings.json"), JSON.stringify(settings));
    const refused = await cli(["mode", "dev", "bypassPermissions", "--json"]);
    expect(refused.error()).toMatchObject({
      code: "PERMISSION_DENIED",
      message: expect.stringContaining("permissions.disableBypassPermissionsMode"),
    });
  });
});
