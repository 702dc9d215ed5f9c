import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { leaves, leftoversOf, nothing } from "../../support/assertions/leftovers.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";

interface World {
  readonly t: PrivateTmux;
  readonly teams: ReturnType<typeof teamsIn>;
  /** Asserts that the command fails with this code and exit status, in one sentence with a hint. */
  refused(exit: number, code: string, ...words: string[]): Promise<{ message: string; hint: string }>;
}

function world(): World {
  const t = privateTmux();
  const teams = teamsIn(t.env, t.home);
  return {
    t,
    teams,
    async refused(exit, code, ...words) {
      const [command = "", ...rest] = words;
      const ended = await teams([
        command,
        ...(command === "task" ? rest.splice(0, 1) : []),
        "--json",
        ...rest,
      ]);
      expect([ended.code, ended.out], words.join(" ")).toEqual([exit, ""]);
      const { message, hint, code: given } = ended.error();
      expect(given, message).toBe(code);
      expect(message.split("\n")).toHaveLength(1);
      expect(hint).toEqual(expect.stringMatching(/\S/));
      return { message, hint: hint ?? "" };
    },
  };
}

/** Creates a directory with links to the programs that the tests need, except this one. */
function pathWithout(t: PrivateTmux, program: string): string {
  const directory = join(t.home, "bin");
  mkdirSync(directory);
  const needed = ["sh", "bash", "node", "git", "ps", "mkfifo", "env", "cat", "stty", "mv"];
  for (const name of needed.filter((one) => one !== program)) {
    symlinkSync(execFileSync("which", [name], { encoding: "utf8" }).trim(), join(directory, name));
  }
  return directory;
}

const SHORT = {
  version: 1,
  agents: {
    "team-lead": [
      { tools: [{ name: "Agent", input: { name: "one", prompt: "hello" } }] },
      { on: { contains: "one is idle" }, say: "All is said." },
    ],
    one: [{ on: { contains: "hello" }, say: "hello yourself" }],
  },
};

describe("an unknown team, agent, task or request", () => {
  it("is reported with the nearest names and exit code 3, and creates nothing", async () => {
    const { t, teams, refused } = world();
    await refused(3, "TEAM_NOT_FOUND", "status");
    expect(existsSync(join(t.root, "teams"))).toBe(false);
    await teams(["create", "review"]);
    await teams(["create", "docs"]);
    const team = await refused(3, "TEAM_NOT_FOUND", "status", "reveiw");
    expect(team.hint).toContain("review");
    const agent = await refused(3, "AGENT_NOT_FOUND", "peek", "team-laed@review");
    expect(agent.hint).toContain("team-lead");
    await refused(3, "RECIPIENT_NOT_FOUND", "send", "team-laed@review", "hello");
    await refused(3, "TASK_NOT_FOUND", "task", "show", "7", "--team", "review");
    await refused(3, "REQUEST_NOT_FOUND", "approve", "perm-1", "--team", "review");
    const several = await refused(2, "INVALID_INPUT", "status");
    expect(several.hint).toMatch(/docs.*review|review.*docs/);
    for (const command of ["kill", "attach"]) await refused(3, "AGENT_NOT_FOUND", command, "nobody@review");
    for (const words of [["delete"], ["status"], ["sidebar"]]) {
      await refused(3, "TEAM_NOT_FOUND", ...words, "nowhere");
    }
    expect(readdirSync(t.paths("review").inboxes)).toEqual([]);
    expect(readdirSync(join(t.root, "teams")).sort()).toEqual(["docs", "review"]);
  });
});

describe("an invalid name", () => {
  it.each(["", "..", "///", "検査", "x".repeat(65)])(
    "%j is rejected as a team name with exit code 2, and creates nothing",
    async (name) => {
      const { t, refused } = world();
      await refused(2, "INVALID_NAME", "create", "--", name);
      await leaves(t, nothing());
    },
  );

  it.each(["", "a@b", "team-lead", "user", "sys\ntem", "x".repeat(65)])(
    "%j is rejected as an agent name with exit code 2",
    async (name) => {
      const { t, teams, refused } = world();
      await teams(["create", "crew"]);
      await refused(2, "INVALID_NAME", "spawn", "--model", "scripted", "--", name);
      expect((await teams(["status", "--json"])).json<{ members: object[] }>().members).toHaveLength(1);
      expect(leftoversOf(t).fifos).toEqual([]);
    },
  );
});

describe("a machine without tmux", () => {
  it("fails with exit code 6 if the run requires tmux, and creates nothing", async () => {
    const { t, teams } = world();
    const temporary = join(t.home, "tmp");
    mkdirSync(temporary);
    const env = { PATH: pathWithout(t, "tmux"), TMPDIR: temporary };
    writeFileSync(join(t.home, "short.json"), JSON.stringify(SHORT));
    const words = ["run", "--team", "crew", "--playbook", "short.json", "--json"];
    for (const more of [["--teammate-mode", "tmux"], ["--detach"]]) {
      const ended = await teams([...words, ...more], { env });
      expect([ended.code, ended.error().code], ended.err).toEqual([6, "TMUX_NOT_FOUND"]);
      expect(ended.error().hint).toContain("nstall tmux");
      expect(readdirSync(temporary)).toEqual([]);
      await leaves(t, nothing());
    }
  });

  it("runs teammates in the lead's process, and says so", async () => {
    const { t, teams } = world();
    writeFileSync(join(t.home, "short.json"), JSON.stringify(SHORT));
    const ended = await teams(["run", "--team", "crew", "--playbook", "short.json"], {
      env: { PATH: pathWithout(t, "tmux") },
    });
    expect(ended.code, ended.err).toBe(0);
    expect(ended.out).toContain("no tmux: in the lead's own process");
    expect(ended.out).toContain("All is said.");
    await leaves(t, nothing());
  });
});

describe("unreadable files", () => {
  it("a config with invalid JSON fails every command as CORRUPT_FILE, and is not changed", async () => {
    const { t, teams, refused } = world();
    await teams(["create", "crew"]);
    const { config } = t.paths("crew");
    writeFileSync(config, '{"name": "crew", "members": [');
    for (const words of [
      ["status"],
      ["send", "dev", "hello"],
      ["spawn", "dev", "--model", "scripted"],
      ["task", "add", "x"],
      ["shutdown", "--all"],
    ]) {
      const { message } = await refused(1, "CORRUPT_FILE", ...words, "--team", "crew");
      expect(message).toContain(config);
    }
    expect(readFileSync(config, "utf8")).toBe('{"name": "crew", "members": [');
    expect((await teams(["ls"])).out).toContain("crew");
  });

  it("user settings with invalid JSON fail as CORRUPT_FILE before anything is created", async () => {
    const { t, refused } = world();
    writeFileSync(join(t.home, "short.json"), JSON.stringify(SHORT));
    writeFileSync(join(t.root, "settings.json"), "{nonsense");
    await refused(1, "CORRUPT_FILE", "run", "--team", "crew", "--playbook", "short.json");
    await leaves(t, nothing());
  });

  it.each([
    [
      '{\n "version": 1,\n "agents": {\n  "a": [\n   {"sya": "x"}\n  ]\n }\n}',
      /play\.json:5: agents\.a\[0\]/,
    ],
    ['{\n "version": 2,\n "agents": {}\n}', /play\.json:2: version/],
    ['{\n "version": 1,\n}', /play\.json:3: .*not JSON/],
  ])("a playbook mistake is reported with line and field by run and spawn", async (text, place) => {
    const { t, teams, refused } = world();
    writeFileSync(join(t.home, "play.json"), text);
    const run = await refused(2, "INVALID_INPUT", "run", "--team", "crew", "--playbook", "play.json");
    expect(run.message).toMatch(place);
    await leaves(t, nothing());
    await teams(["create", "crew"]);
    const spawn = await refused(2, "INVALID_INPUT", "spawn", "dev", "--model", "scripted:play.json");
    expect(spawn.message).toMatch(place);
    expect((await teams(["status", "--json"])).json<{ members: object[] }>().members).toHaveLength(1);
  });
});

describe("an impossible place or option", () => {
  it("a missing directory is reported before any agent starts", async () => {
    const { t, teams, refused } = world();
    await teams(["create", "crew"]);
    const missing = join(t.home, "nowhere");
    const { message } = await refused(
      2,
      "INVALID_INPUT",
      "spawn",
      "dev",
      "--model",
      "scripted",
      "--cwd",
      missing,
    );
    expect(message).toContain(missing);
    await refused(2, "INVALID_INPUT", "run", "--report", "nowhere/AUDIT.md");
    await refused(2, "INVALID_INPUT", "run", "--playbook", "nowhere.json");
    expect(leftoversOf(t)).toMatchObject({ panes: [], processes: [], fifos: [] });
  });

  it("an option without effect is rejected before the run starts", async () => {
    const { t, refused } = world();
    writeFileSync(join(t.home, "short.json"), JSON.stringify(SHORT));
    const run = ["run", "--playbook", "short.json"];
    const audit = await refused(2, "INVALID_INPUT", ...run, "--report", "AUDIT.md");
    expect(audit.message).toContain("--report only for the built-in audit");
    const place = await refused(2, "INVALID_INPUT", ...run, "--here", "--session");
    expect(place.message).toContain("--here or --session, not both");
    await leaves(t, nothing());
  });

  it("a runtime directory open to other users is rejected, and no team is left", async () => {
    const { t, teams, refused } = world();
    mkdirSync(join(t.runtime, "teams"));
    chmodSync(join(t.runtime, "teams"), 0o777);
    writeFileSync(join(t.home, "short.json"), JSON.stringify(SHORT));
    const { message } = await refused(1, "PERMISSION_DENIED", "run", "--playbook", "short.json");
    expect(message).toContain(join(t.runtime, "teams"));
    await leaves(t, nothing());
    await teams(["create", "crew"]);
    await refused(1, "PERMISSION_DENIED", "spawn", "dev", "--model", "scripted:short.json");
    chmodSync(join(t.runtime, "teams"), 0o700);
    expect((await teams(["status", "--json"])).json<{ members: object[] }>().members).toHaveLength(1);
  });

  it("a report that no audit wrote is never replaced", async () => {
    const { t, refused } = world();
    execFileSync("git", ["init", "-q", t.home], { env: t.env });
    writeFileSync(join(t.home, "AUDIT.md"), "# mine\n");
    for (const words of [["run"], ["run", "--report", "AUDIT.md"], ["run", "--model", "scripted"]]) {
      const { message, hint } = await refused(2, "INVALID_INPUT", ...words);
      expect(message).toContain("AUDIT.md");
      expect(hint).toContain("--report");
    }
    expect(readFileSync(join(t.home, "AUDIT.md"), "utf8")).toBe("# mine\n");
    await leaves(t, nothing());
  });

  it("a window too small for another pane is not split", async () => {
    const { t, teams } = world();
    const { pane } = t.session("tiny", { width: 30, height: 8 });
    writeFileSync(join(t.home, "short.json"), JSON.stringify(SHORT));
    await teams(["create", "crew"]);
    const env = t.inside(pane);
    const before = t.tmux("display-message", "-p", "-t", pane, "#{window_layout}");
    const here = await teams(["spawn", "dev", "--model", "scripted:short.json", "--here", "--json"], { env });
    const after = t.tmux("display-message", "-p", "-t", pane, "#{window_layout}");
    expect(after).toBe(before);
    if (here.code === 0) {
      // The teammate then runs in the team's own window.
      expect((await teams(["wait", "dev", "--timeout", "180"])).code).toBe(0);
      await teams(["kill", "dev", "--force"]);
    } else expect(here.error().code).toBe("TMUX_ERROR");
    const split = await teams(["sidebar", "--split", "--json"], { env });
    expect([split.code, split.error().code]).toEqual([1, "TMUX_ERROR"]);
    expect(t.tmux("list-panes", "-a", "-F", "#{pane_id}")).toBe(pane);
    await teams(["delete", "crew"]);
    await leaves(t, nothing(["tiny:cat"]));
  });
});

describe("impossible model input", () => {
  it("a run without a goal, with an invalid model or with two models is rejected", async () => {
    const { t, refused } = world();
    await refused(2, "INVALID_INPUT", "run", "--model", "claude-fake");
    await refused(2, "INVALID_MODEL", "run", "--model", "no such", "goal");
    await refused(2, "INVALID_INPUT", "run", "--model", "sonnet", "--playbook", "x.json", "goal");
    await refused(2, "INVALID_NAME", "run", "--team", "検査", "--model", "claude-fake", "goal");
    await leaves(t, nothing());
  });
});

it("stdin › is refused if it is a directory", async () => {
  const { t, teams } = world();
  expect((await teams(["create", "crew"])).code).toBe(0);
  const send = ["send", "team-lead", "-"];
  const { status, stderr } = spawnSync(process.execPath, ["dist/teams.cjs", ...send], {
    env: t.env,
    encoding: "utf8",
    stdio: [openSync(t.home, "r"), "pipe", "pipe"],
  });
  expect(stderr).toContain("stdin is a directory; nothing was done.");
  expect(status).toBe(2);
});
