import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Approval } from "../../../src/operations/approvals/approvals.ts";
import type { TeamStatus } from "../../../src/operations/status.ts";
import { findProgram } from "../../../src/os/files/access.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { describeInSandbox } from "../../support/sandbox/sandboxed-agent.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

const PLACE = ["--teammate-mode", "process"];
const bash = (command: string, more: object = {}) => ({ name: "Bash", input: { command, ...more } });

/** Writes the user's settings, and a playbook in which `dev` makes these calls. */
function agentWith(tools: readonly object[], settings: object) {
  const t = privateTmux();
  const project = join(realpathSync(t.home), "project");
  mkdirSync(project);
  const root = t.env.TEAMS_HOME ?? join(t.home, ".claude");
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, "settings.json"), JSON.stringify(settings));
  const agents = {
    dev: [{ tools }, { say: "done" }, { tools }, { say: "done", repeat: true }],
    "team-lead": [{ tools }, { say: "done" }],
  };
  const playbook = join(project, "play.json");
  writeFileSync(playbook, JSON.stringify({ version: 1, agents }));
  const teams = teamsIn(t.env, project);
  onTestFinished(async () => void (await teams(["kill", "crew", "--force"])));
  const spawn = (...more: string[]) =>
    teams(["spawn", "dev", "--model", `scripted:${playbook}`, "--prompt", "Begin.", ...PLACE, ...more]);
  return {
    t,
    project,
    root,
    playbook,
    teams,
    spawn,
    made: (name: string) => existsSync(join(project, name)),
  };
}

describeInSandbox("an agent in the sandbox", () => {
  it("writes only in its directory, and runs a command outside once a person allows it", async () => {
    const { teams, spawn, made } = agentWith(
      [
        bash("echo x > inside; echo x > ../outside; echo x > .claude/settings.json"),
        bash("echo x > ../outside", { dangerouslyDisableSandbox: true }),
      ],
      {
        permissions: { allow: ["Bash"], defaultMode: "bypassPermissions" },
        teams: { sandbox: { mode: "required" } },
      },
    );
    await teams(["create", "crew"]);
    const spawned = await spawn();
    expect(spawned.code, spawned.err).toBe(0);
    const asked = await eventually("the request", async () => {
      const { approvals } = (await teams(["approvals", "--json"])).json<{ approvals: Approval[] }>();
      return approvals[0];
    });
    expect(made("inside")).toBe(true);
    expect(made("../outside")).toBe(false);
    expect(made(".claude/settings.json")).toBe(false);
    expect((await teams(["approvals", asked.id])).out).toContain("outside the sandbox");
    expect((await teams(["approve", asked.id])).code).toBe(0);
    await eventually("the command outside", () => made("../outside"));
  });

  it("keeps the mode of its spawn after a restart", async () => {
    const { teams, spawn, project } = agentWith([bash('echo "$TEAMS_SANDBOX" >> seen')], {
      permissions: { allow: ["Bash"], defaultMode: "bypassPermissions" },
    });
    const seen = (times: number) =>
      eventually(
        "dev's commands",
        () =>
          existsSync(join(project, "seen")) &&
          readFileSync(join(project, "seen"), "utf8") === "1\n".repeat(times),
      );
    const mode = async () =>
      (await teams(["status", "--json"])).json<TeamStatus>().members.find(({ name }) => name === "dev")
        ?.sandbox;
    await teams(["create", "crew"]);
    expect((await spawn("--sandbox", "auto")).code).toBe(0);
    await seen(1);
    expect((await teams(["down", "--timeout", "180"])).code).toBe(0);
    expect((await teams(["resume", ...PLACE])).code).toBe(0);
    await teams(["send", "dev", "Again."]);
    await seen(2);
    expect(await mode()).toBe("auto");
  });

  it("may also be a lead", async () => {
    const { teams, playbook, made } = agentWith([bash("echo x > inside; echo x > ../outside; true")], {
      permissions: { allow: ["Bash"] },
      teams: { sandbox: { mode: "required" } },
    });
    const run = await teams(["run", "--team", "crew", "--playbook", playbook, "--no-sidebar", ...PLACE]);
    expect(run.code, run.err).toBe(0);
    expect([made("inside"), made("../outside")]).toEqual([true, false]);
  });

  it("cannot read a secret through its playbook that its commands cannot read", async () => {
    const { teams, playbook, made } = agentWith([bash("echo {{env.DEPLOY_TOKEN}} > found")], {
      permissions: { allow: ["Bash"] },
      teams: { sandbox: { mode: "required" } },
    });
    const words = ["run", "--team", "crew", "--playbook", playbook, "--no-sidebar", ...PLACE];
    const run = await teams(words, { env: { DEPLOY_TOKEN: "sesame-7f3a9c1e" } });
    expect(run.out + run.err).toContain("{{env.DEPLOY_TOKEN}} has no value");
    expect([run.code === 0, made("found")]).toEqual([false, false]);
  });
});

describe("a machine without a sandbox", () => {
  /** Returns a PATH with all programs except bwrap. */
  function pathWithout(directory: string): string {
    const bin = join(directory, "bin");
    mkdirSync(bin);
    for (const from of [dirname(process.execPath), "/usr/bin", "/bin"]) {
      for (const name of readdirSync(from)) {
        if (name !== "bwrap" && !existsSync(join(bin, name))) symlinkSync(join(from, name), join(bin, name));
      }
    }
    const tmux = dirname(findProgram("tmux", process.env) ?? "/usr/bin/tmux");
    return [bin, ...(existsSync(join(tmux, "bwrap")) ? [] : [tmux])].join(":");
  }

  it("refuses to start a teammate and a lead that require a sandbox, and says what to install", async () => {
    const { t, teams, playbook, project } = agentWith([], { teams: { sandbox: { mode: "required" } } });
    await teams(["create", "crew"]);
    const bare = teamsIn({ ...t.env, PATH: pathWithout(t.home) }, project);
    const words = ["spawn", "dev", "--model", `scripted:${playbook}`, ...PLACE];
    for (const command of [words, ["run", "--team", "other", "--playbook", playbook, "--no-sidebar"]]) {
      const refused = await bare(command);
      expect(refused.code).toBe(1);
      expect(refused.err.replace(/\s+/g, " ")).toMatch(
        /The sandbox is required, but .* was not started.*nstall/,
      );
    }
    expect((await teams(["ls", "--json"])).out).not.toContain("other");
  });

  it("starts an agent in mode auto, and says once that its commands run as the user", async () => {
    const { t, playbook, project, made } = agentWith([bash("touch ran; touch ../outside")], {
      permissions: { allow: ["Bash"] },
      teams: { sandbox: { mode: "auto" } },
    });
    const bare = teamsIn({ ...t.env, PATH: pathWithout(t.home) }, project);
    const run = await bare(["run", "--team", "crew", "--playbook", playbook, "--no-sidebar", ...PLACE]);
    expect(run.code, run.err).toBe(0);
    expect(run.out.match(/no sandbox: /g)).toHaveLength(1);
    expect(made("../outside")).toBe(true);
  });
});
