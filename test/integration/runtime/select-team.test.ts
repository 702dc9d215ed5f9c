import { describe, expect, it } from "vitest";
import { TeamError } from "../../../src/errors.ts";
import { resolveTarget } from "../../../src/runtime/select-target.ts";
import { openAddress, openTeam } from "../../../src/runtime/select-team.ts";
import { withMetadata } from "../../../src/schema/member-metadata.ts";
import { updateTeam } from "../../../src/team/config/config.ts";
import { createTeamFiles } from "../../../src/team/config/create-files.ts";
import { addMembers } from "../../../src/team/members/members.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

async function homeWith(teams: Readonly<Record<string, readonly string[]>>): Promise<Record<string, string>> {
  const directory = temporaryDirectory();
  const env = { HOME: directory, TEAMS_HOME: directory, XDG_RUNTIME_DIR: directory };
  const home = teamsHome(env);
  for (const [name, members] of Object.entries(teams)) {
    const ref = await createTeamFiles(home, { name, leadSessionId: "s", leadCwd: directory, now: 1 });
    await addMembers(
      ref,
      members.map((member) => ({ name: member, cwd: directory })),
    );
  }
  return env;
}

function codeOf(act: () => unknown): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    if (error instanceof TeamError) return error.code;
    throw error;
  }
}

describe("openTeam", () => {
  it("acts as the lead, as the member in --as, or only as the agent whose shell runs the command", async () => {
    const env = await homeWith({ alpha: ["dev", "rev"], beta: ["dev"] });
    const actor = (as: string | undefined, agent?: string, team = "alpha"): string =>
      openTeam(agent === undefined ? env : { ...env, TEAMS_AGENT: agent }, { team, as }).actor;
    expect(actor(undefined)).toBe("team-lead");
    expect(actor("dev")).toBe("dev");
    expect(actor("DEV@alpha")).toBe("dev");
    expect(actor(undefined, "rev@alpha")).toBe("rev");
    expect(actor("rev", "rev@alpha")).toBe("rev");
    expect(codeOf(() => actor("nobody"))).toBe("AGENT_NOT_FOUND");
    expect(codeOf(() => actor("dev@beta"))).toBe("INVALID_INPUT");
    expect(codeOf(() => actor("dev", "rev@alpha"))).toBe("NOT_LEAD");
    expect(codeOf(() => actor("team-lead", "rev@alpha"))).toBe("NOT_LEAD");
    expect(codeOf(() => actor(undefined, "dev@alpha", "beta"))).toBe("NOT_LEAD");
    expect(codeOf(() => actor(undefined, "gone@alpha"))).toBe("AGENT_NOT_FOUND");
  });
});

describe("a team's display name", () => {
  /** Gives a team another name, as a lead does with TeamCreate. */
  const rename = (env: Record<string, string>, team: string, displayName: string) =>
    updateTeam(teamRef(teamsHome(env), team), (config) => ({ ...config, displayName }));

  it("selects the team wherever a team is named", async () => {
    const env = await homeWith({ "run-1": ["dev"], beta: ["rev"] });
    await rename(env, "run-1", "Review Team");
    for (const team of ["Review Team", "review-team", "run-1"]) {
      expect(openTeam(env, { team }).ref.team).toBe("run-1");
      expect(openTeam({ ...env, TEAMS_TEAM: team }, {}).ref.team).toBe("run-1");
      expect(openAddress(env, {}, `dev@${team}`).member.name).toBe("dev");
      expect(openAddress(env, { team: "run-1" }, `dev@${team}`).member.name).toBe("dev");
      expect(openTeam(env, { team, as: "dev@review-team" }).actor).toBe("dev");
      expect(resolveTarget(env, {}, team)).toMatchObject({ kind: "team", open: { ref: { team: "run-1" } } });
    }
    expect(codeOf(() => openTeam(env, { team: "review" }))).toBe("TEAM_NOT_FOUND");
    expect(codeOf(() => openAddress(env, { team: "beta" }, "dev@review-team"))).toBe("INVALID_INPUT");
  });

  it("comes before a former name, which selects the team too", async () => {
    const env = await homeWith({ alpha: [], beta: [], gamma: ["dev"] });
    const wasCalled = (team: string, ...names: readonly string[]) =>
      updateTeam(teamRef(teamsHome(env), team), (config) =>
        withMetadata(config, { formerNames: [...names] }),
      );
    await wasCalled("gamma", "run-12ab", "old", "beta");
    await rename(env, "alpha", "old");
    expect(openTeam(env, { team: "old" }).ref.team).toBe("alpha");
    expect(openTeam(env, { team: "beta" }).ref.team).toBe("beta");
    expect(openAddress(env, {}, "dev@run-12ab")).toMatchObject({ ref: { team: "gamma" } });
    // As in a command that the lead started before its team got another name.
    expect(openTeam({ ...env, TEAMS_AGENT: "team-lead@run-12ab" }, {}).ref.team).toBe("gamma");
    expect(resolveTarget(env, {}, "run-12ab")).toMatchObject({
      kind: "team",
      open: { ref: { team: "gamma" } },
    });
  });

  it("never hides a directory of that name, and is refused if several teams have it", async () => {
    const env = await homeWith({ alpha: [], beta: [], gamma: [] });
    await rename(env, "alpha", "beta");
    expect(openTeam(env, { team: "beta" }).ref.team).toBe("beta");
    for (const team of ["beta", "gamma"]) await rename(env, team, "twins");
    expect(() => openTeam(env, { team: "twins" })).toThrow("2 teams are called twins: beta, gamma.");
    expect(codeOf(() => resolveTarget(env, {}, "twins"))).toBe("INVALID_INPUT");
  });
});

describe("resolveTarget", () => {
  it("resolves a word to the existing team or member with that name", async () => {
    const env = await homeWith({ alpha: ["dev"] });
    const kindOf = (word: string | undefined, team?: string): string => {
      const target = resolveTarget(env, { team }, word);
      return target.kind === "team" ? `team ${target.open.ref.team}` : `member ${target.member.name}`;
    };
    expect(kindOf(undefined)).toBe("team alpha");
    expect(kindOf("alpha")).toBe("team alpha");
    expect(kindOf("dev")).toBe("member dev");
    expect(kindOf("dev@alpha")).toBe("member dev");
    expect(kindOf("dev", "alpha")).toBe("member dev");
    expect(codeOf(() => kindOf("nobody"))).toBe("AGENT_NOT_FOUND");
    expect(codeOf(() => kindOf("alpha", "alpha"))).toBe("AGENT_NOT_FOUND");
  });

  it("rejects a word that names both a team and a member, and says how to name each", async () => {
    const env = await homeWith({ dev: ["dev"] });
    try {
      resolveTarget(env, {}, "dev");
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ code: "INVALID_INPUT", hint: expect.stringContaining("dev@dev") });
      expect((error as TeamError).hint).toContain("--team dev");
    }
    expect(resolveTarget(env, {}, "dev@dev").kind).toBe("member");
    expect(resolveTarget(env, { team: "dev" }, undefined).kind).toBe("team");
  });

  it("resolves a team's name among several teams without --team", async () => {
    const env = await homeWith({ alpha: ["dev"], beta: ["dev"] });
    expect(resolveTarget(env, {}, "beta")).toMatchObject({ kind: "team", open: { ref: { team: "beta" } } });
    expect(codeOf(() => resolveTarget(env, {}, "dev"))).toBe("INVALID_INPUT");
    expect(codeOf(() => resolveTarget(env, {}, "nobody"))).toBe("AGENT_NOT_FOUND");
  });
});
