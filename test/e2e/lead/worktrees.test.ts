import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import type { PlaybookTurn } from "../../../src/schema/playbook.ts";
import { leaves, nothing } from "../../support/assertions/leftovers.ts";
import { GIT_IDENTITY, git } from "../../support/files/git.ts";
import { type Finished, startTeams, teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

interface Spawned {
  readonly cwd: string;
  readonly worktree: string;
  readonly branch: string;
}
interface Kept {
  readonly path: string;
  readonly branch: string;
  readonly kept: string | null;
}

/** Creates a team of a user in the subdirectory `app` of the user's repository. */
async function person(agents: Readonly<Record<string, readonly PlaybookTurn[]>> = {}) {
  const t = privateTmux({ env: GIT_IDENTITY });
  const repository = join(realpathSync(t.home), "repo");
  const here = join(repository, "app");
  mkdirSync(here, { recursive: true });
  const commit = (directory: string, file: string): void => {
    writeFileSync(join(directory, file), `${file}\n`);
    git(directory, "add", "--all");
    git(directory, "commit", "--quiet", "--message", file);
  };
  git(repository, "init", "--quiet", "--initial-branch=main");
  commit(repository, "app/one.txt");
  const playbook = join(t.home, "play.json");
  writeFileSync(playbook, JSON.stringify({ version: 1, agents }));
  const run = teamsIn(t.env, here);
  const teams = async <T = Record<string, unknown>>(...words: string[]): Promise<T> => {
    const ended = await run([...words, "--json"]);
    expect([ended.code, ended.err], words.join(" ")).toEqual([0, ""]);
    return ended.json<T>();
  };
  await teams("create", "crew");
  const mode = ["--teammate-mode", "process", "--model", `scripted:${playbook}`];
  const spawn = (name: string, ...words: string[]): Promise<Finished> =>
    run(["spawn", name, ...mode, ...words, "--json"]);
  const spawned = async (name: string, ...words: string[]): Promise<Spawned> => {
    const ended = await spawn(name, ...words);
    expect([ended.code, ended.err], name).toEqual([0, ""]);
    return ended.json<Spawned>();
  };
  const branches = (): string[] => git(repository, "branch", "--format=%(refname:short)").split("\n");
  const settings = (teamsSettings: object): void =>
    writeFileSync(join(t.root, "settings.json"), JSON.stringify({ teams: teamsSettings }));
  /** Starts a spawn whose setup command runs until it is ended. */
  const spawnInSetup = async () => {
    const begun = join(t.home, "begun");
    settings({ worktreeSetup: `echo > '${begun}'; sleep 600 & wait` });
    const started = startTeams(["spawn", "dev", ...mode, "--worktree", "--json"], t.env, here);
    await eventually("the setup", () => existsSync(begun));
    settings({});
    return started;
  };
  return { t, repository, here, commit, run, teams, spawn, spawned, spawnInSetup, branches, settings };
}

describe("a teammate with a worktree", () => {
  it("uses a playbook of the directory that its worktree lacks", async () => {
    const p = await person();
    const agents = { cyd: [{ say: "Here." }] };
    writeFileSync(join(p.repository, "app", "mine.json"), JSON.stringify({ version: 1, agents }));
    const words = ["--worktree", "--teammate-mode", "process", "--model", "scripted:mine.json"];
    await p.teams("spawn", "cyd", ...words, "--prompt", "Begin.");
    await p.teams("wait", "cyd", "--idle");
    await p.teams("kill", "crew");
  });

  it("works on its own branch and top level when two start at once (S66)", async () => {
    const writes: PlaybookTurn = {
      tools: [
        { name: "Bash", input: { command: "git rev-parse --show-toplevel --abbrev-ref HEAD > where.txt" } },
      ],
    };
    const p = await person({ "*": [writes, { say: "done" }] });
    const bypass = ["--permission-mode", "bypassPermissions", "--prompt", "go"];
    const [ada, ben] = await Promise.all(
      ["ada", "ünï ben"].map((name) => p.spawned(name, "--worktree", ...bypass)),
    );
    expect(ada).toMatchObject({
      cwd: join(p.repository, ".worktrees/crew-ada/app"),
      worktree: join(p.repository, ".worktrees/crew-ada"),
      branch: "teams/crew/ada",
    });
    expect(ben?.branch).toBe("teams/crew/%C3%BCn%C3%AF%20ben");
    for (const one of [ada, ben]) {
      const file = join(one?.cwd ?? "", "where.txt");
      const wanted = `${one?.worktree}\n${one?.branch}\n`;
      await eventually("where.txt", () => existsSync(file) && readFileSync(file, "utf8") === wanted);
    }
    expect(git(p.repository, "status", "--porcelain")).toBe("");
    const { members } = await p.teams<{ members: { worktree: string | null }[] }>("status");
    const own = new Set([null, ada?.worktree, ben?.worktree]);
    expect(new Set(members.map(({ worktree }) => worktree))).toEqual(own);
  });

  it("uses the named branch, uncommitted changes, configured directory and setup command", async () => {
    const p = await person();
    const trees = join(p.t.home, "my trees");
    p.settings({
      worktreeDir: "~/my trees",
      worktreeSetup: 'cp "$TEAMS_WORKTREE_SOURCE/.env" "$TEAMS_WORKTREE/app/.env" && pwd > app/pwd.txt',
    });
    writeFileSync(join(p.repository, ".env"), "from the source\n");
    writeFileSync(join(p.here, "one.txt"), "changed\n");
    git(p.repository, "branch", "feature");
    const dev = await p.spawned("dev", "--with-changes", "--worktree", "feature");
    expect(dev).toMatchObject({ worktree: join(realpathSync(trees), "crew-dev"), branch: "feature" });
    const read = (file: string): string => readFileSync(join(dev.cwd, file), "utf8");
    expect([read(".env"), read("one.txt"), read("pwd.txt")]).toEqual([
      "from the source\n",
      "changed\n",
      `${dev.worktree}\n`,
    ]);
    const own = await p.spawned("other", "--worktree", "new/one");
    expect(own.branch).toBe("new/one");
  });

  it("is not started, and leaves nothing, when git or the setup command fails (S13, S66)", async () => {
    const p = await person();
    const config = (): string => readFileSync(join(p.t.root, "teams/crew/config.json"), "utf8");
    const before = config();
    const refused = async (message: RegExp, ...words: string[]): Promise<void> => {
      const ended = await p.spawn("dev", ...words);
      expect([ended.code, ended.error().code], ended.err).toEqual([1, "SPAWN_FAILED"]);
      expect(ended.error().message).toMatch(message);
      expect(p.branches()).toEqual(["main"]);
      expect(git(p.repository, "worktree", "list").split("\n")).toHaveLength(1);
      expect(existsSync(join(p.repository, ".worktrees/crew-dev"))).toBe(false);
      expect(config()).toBe(before);
    };
    await refused(/not a valid branch name/, "--worktree", "not..a branch");
    await refused(/already checked out|already used/, "--worktree", "main");
    await refused(/not a git repository/, "--worktree", "--cwd", p.t.home);
    p.settings({ worktreeSetup: "echo half > half.txt; echo no packages here >&2; exit 3" });
    await refused(/exit code 3[\s\S]*no packages here/, "--worktree");
    p.settings({ worktreeSetup: "chmod +x does-not-matter; kill -TERM $$" });
    await refused(/SIGTERM/, "--worktree");
    p.settings({});
    const without = await p.spawn("dev", "--with-changes");
    expect([without.code, without.error().code]).toEqual([2, "INVALID_INPUT"]);
  });

  it("is rolled back with exit code 130 when interrupted during setup", async () => {
    const p = await person();
    const { child, ended } = await p.spawnInSetup();
    child.kill("SIGINT");
    expect(await ended).toBe(130);
    expect([p.branches(), existsSync(join(p.repository, ".worktrees/crew-dev"))]).toEqual([["main"], false]);
    const { members } = await p.teams<{ members: object[] }>("status");
    expect(members).toHaveLength(1);
    await leaves(p.t, {
      ...nothing(),
      teams: ["teams", "tasks"].map((name) => join(p.t.root, name, "crew")),
    });
  });

  it("is still known when its spawn was killed during setup, and is removed by kill", async () => {
    const p = await person();
    const { child, ended } = await p.spawnInSetup();
    child.kill("SIGKILL");
    await ended;
    const path = join(p.repository, ".worktrees/crew-dev");
    const { members } = await p.teams<{ members: { worktree: string | null }[] }>("status");
    expect(members[1]?.worktree).toBe(path);
    await p.teams("kill", "dev");
    expect([p.branches(), existsSync(path)]).toEqual([["main"], false]);
  });

  it("stays after down, and is used again after resume", async () => {
    const p = await person();
    const dev = await p.spawned("dev", "--worktree");
    await p.teams("down", "crew", "--timeout", "180");
    expect(existsSync(dev.worktree)).toBe(true);
    await p.teams("resume", "crew");
    const { members } = await p.teams<{ members: object[] }>("status");
    expect(members[1]).toMatchObject({ alive: true, cwd: dev.cwd, worktree: dev.worktree });
    await p.teams("kill", "dev");
    expect([p.branches(), existsSync(dev.worktree)]).toEqual([["main"], false]);
  });

  it("ignores, and names, a setup command of the project's own settings", async () => {
    const p = await person();
    mkdirSync(join(p.here, ".claude"));
    const file = join(p.here, ".claude/settings.json");
    writeFileSync(file, JSON.stringify({ teams: { worktreeSetup: "touch owned" } }));
    const ended = await p.run(["spawn", "dev", "--worktree", "--teammate-mode", "process"]);
    expect([ended.code, ended.err]).toEqual([0, expect.stringContaining(`ignored: ${file}: teams`)]);
    expect(existsSync(join(p.repository, ".worktrees/crew-dev/owned"))).toBe(false);
  });
});

it("status --git › shows the distance from the base; without the flag git never runs", async () => {
  const p = await person();
  const dev = await p.spawned("dev", "--worktree");
  await p.spawned("plain");
  p.commit(dev.cwd, "two.txt");
  p.commit(dev.cwd, "three.txt");
  p.commit(p.repository, "four.txt");
  writeFileSync(join(dev.cwd, "new.txt"), "new\n");
  type Members = { members: { git?: object | null }[] };
  const gits = async (...words: string[]) =>
    (await p.teams<Members>("status", ...words)).members.map(({ git }) => git);
  const expected = { branch: "teams/crew/dev", ahead: 2, behind: 1, dirty: true, changed: 0, untracked: 1 };
  expect(await gits("--git")).toEqual([null, expected, null]);
  expect((await p.run(["status", "--git"])).out).toContain("teams/crew/dev +2 -1, 1 uncommitted");
  const path = join(p.t.home, "bin");
  mkdirSync(path);
  writeFileSync(join(path, "git"), `#!/bin/sh\necho "$@" >> ${p.t.home}/asked\nexit 1\n`, { mode: 0o755 });
  const env = { PATH: `${path}:${p.t.env.PATH}` };
  expect((await p.run(["status", "--json"], { env })).json<Members>().members[1]).not.toHaveProperty("git");
  expect(existsSync(join(p.t.home, "asked"))).toBe(false);
  const failing = await p.run(["status", "--git", "--json"], { env });
  expect(failing.json<Members>().members[1]?.git).toEqual({ problem: expect.any(String) });
});

describe("ending a teammate with a worktree (S46)", () => {
  it.each([
    ["kill", ["kill", "dev"]],
    ["kill --force", ["kill", "dev", "--force"]],
    ["shutdown", ["shutdown", "dev", "--timeout", "180"]],
  ])("%s removes a clean worktree with its branch, and keeps and names a dirty one", async (_how, words) => {
    const p = await person();
    const end = async (): Promise<Kept | undefined> => {
      const ended = await p.teams<Record<string, { worktree: Kept }[]>>(...words);
      return (ended.kills ?? ended.shutdowns)?.[0]?.worktree;
    };
    const clean = await p.spawned("dev", "--worktree");
    expect(await end()).toEqual({ path: clean.worktree, branch: clean.branch, kept: null });
    expect([existsSync(clean.worktree), p.branches()]).toEqual([false, ["main"]]);

    const dirty = await p.spawned("dev", "--worktree");
    p.commit(dirty.cwd, "two.txt");
    writeFileSync(join(dirty.cwd, "one.txt"), "changed\n");
    writeFileSync(join(dirty.cwd, "new.txt"), "new\n");
    const why = "1 changed and 1 untracked files, 1 commit that is on no other branch or remote";
    expect(await end()).toEqual({ path: dirty.worktree, branch: dirty.branch, kept: why });
    expect(existsSync(join(dirty.cwd, "new.txt"))).toBe(true);
    const { messages } = await p.teams<{ messages: { text: string }[] }>("inbox", "--all");
    const notices = messages.filter(({ text }) =>
      text.includes(`Its worktree was kept: ${dirty.worktree} (${why})`),
    );
    expect(notices).toHaveLength(1);

    const next = await p.spawned("dev", "--worktree");
    expect([next.worktree, next.branch]).toEqual([`${dirty.worktree}-2`, `${dirty.branch}-2`]);
    const text = await p.run(["kill", "dev"]);
    expect(text.out).not.toContain("stays");
  });

  it("kill --discard-worktree removes the worktree with its changes, and keeps a branch with commits", async () => {
    const p = await person();
    const dev = await p.spawned("dev", "--worktree");
    p.commit(dev.cwd, "two.txt");
    writeFileSync(join(dev.cwd, "new.txt"), "new\n");
    const { kills } = await p.teams<{ kills: { worktree: Kept }[] }>("kill", "dev", "--discard-worktree");
    expect(kills[0]?.worktree).toEqual({ path: dev.worktree, branch: dev.branch, kept: null });
    expect([existsSync(dev.worktree), p.branches()]).toEqual([false, ["main", dev.branch]]);
    const clean = await p.spawned("clean", "--worktree");
    await p.teams("kill", "clean", "--discard-worktree", "--force");
    expect([existsSync(clean.worktree), p.branches()]).toEqual([
      false,
      ["main", "teams/crew/clean", dev.branch],
    ]);
  });

  it("kill --discard-worktree is refused before any request if commits are on no branch", async () => {
    const p = await person();
    const dev = await p.spawned("dev", "--worktree");
    git(dev.worktree, "checkout", "--quiet", "--detach");
    p.commit(dev.cwd, "two.txt");
    const ended = await p.run(["kill", "crew", "--discard-worktree", "--json"]);
    expect([ended.code, ended.error().code]).toEqual([1, "WORKTREE_DIRTY"]);
    const { members } = await p.teams<{ members: { name: string; alive: boolean }[] }>("status");
    expect(members.find(({ name }) => name === "dev")?.alive).toBe(true);
    expect(existsSync(dev.worktree)).toBe(true);
  });

  it("keeps the worktree while another member works in it", async () => {
    const p = await person();
    const dev = await p.spawned("dev", "--worktree");
    await p.spawned("guest", "--cwd", dev.cwd);
    const { kills } = await p.teams<{ kills: { worktree: Kept }[] }>("kill", "dev", "--force");
    expect(kills[0]?.worktree.kept).toBe("guest works in it");
    expect(existsSync(dev.worktree)).toBe(true);
  });

  it("delete and purge remove merged worktrees, and name the worktrees that stay", async () => {
    const p = await person();
    const [merged, open] = [await p.spawned("merged", "--worktree"), await p.spawned("open", "--worktree")];
    for (const one of [merged, open]) p.commit(one.cwd, `${one.branch.replaceAll("/", "-")}.txt`);
    await p.teams("shutdown", "--all", "--timeout", "180");
    expect(existsSync(merged.worktree)).toBe(true);
    git(p.repository, "merge", "--quiet", merged.branch);
    const { worktrees } = await p.teams<{ worktrees: Kept[] }>("delete", "crew");
    expect(worktrees).toContainEqual({ path: merged.worktree, branch: merged.branch, kept: null });
    expect(worktrees).toContainEqual({
      path: open.worktree,
      branch: open.branch,
      kept: "1 commit that is on no other branch or remote",
    });
    expect([existsSync(merged.worktree), existsSync(open.worktree), p.branches()]).toEqual([
      false,
      true,
      ["main", open.branch],
    ]);
    await p.teams("create", "crew");
    const last = await p.spawned("last", "--worktree");
    writeFileSync(join(last.cwd, "new.txt"), "new\n");
    const purged = await p.run(["kill", "crew", "--purge", "--force"]);
    expect(purged.out).toContain(`The worktree ${last.worktree} stays: 1 untracked file.`);
    expect(purged.out).toContain("Deleted team crew.");
    const command = /: (git -C .*)$/m.exec(purged.out)?.[1] ?? "";
    execFileSync("/bin/sh", ["-c", command], { cwd: p.here });
    expect(existsSync(last.worktree)).toBe(false);
  });
});

/** Runs a team whose lead plays these turns, to its end. */
async function ledBy(
  p: Awaited<ReturnType<typeof person>>,
  lead: readonly PlaybookTurn[],
): Promise<Finished> {
  const playbook = join(p.t.home, "lead.json");
  const agents = { [LEAD_NAME]: lead, dev: [{ say: "ready" }] };
  writeFileSync(playbook, JSON.stringify({ version: 1, agents }));
  const words = ["run", "--team", "led", "--playbook", playbook, "--permission-mode", "bypassPermissions"];
  const ended = await p.run([...words, "--teammate-mode", "process", "--json"]);
  expect(ended.code, ended.err).toBe(0);
  return ended;
}

it("run › reports the worktree that stays at its end", async () => {
  const p = await person();
  const agent = { name: "Agent", input: { name: "dev", prompt: "go", isolation: "worktree" }, as: "dev" };
  const lead: PlaybookTurn[] = [
    { tools: [agent] },
    { tools: [{ name: "Bash", input: { command: "cp one.txt {{dev.worktree_path}}/left.txt" } }] },
    { say: "done" },
  ];
  const ended = await ledBy(p, lead);
  const path = join(p.repository, ".worktrees/led-dev");
  const worktrees = [{ path, branch: "teams/led/dev", kept: "1 untracked file" }];
  expect(ended.json()).toMatchObject({ team: "led", worktrees });
  expect(existsSync(join(path, "left.txt"))).toBe(true);
});

it("worktreeDir › applies to the next teammate when it changes during a run", async () => {
  const p = await person();
  const trees = join(realpathSync(p.t.home), "trees");
  const file = join(p.t.root, "settings.json");
  const agent = { name: "Agent", input: { name: "dev", prompt: "go", isolation: "worktree" } };
  const settings = JSON.stringify({ teams: { worktreeDir: trees } });
  const lead: PlaybookTurn[] = [
    { tools: [{ name: "Bash", input: { command: `echo '${settings}' > '${file}'` } }] },
    { tools: [agent] },
    { tools: [{ name: "Bash", input: { command: `ls '${trees}' > '${p.t.home}/seen'` } }] },
    { say: "done" },
  ];
  await ledBy(p, lead);
  expect(readFileSync(join(p.t.home, "seen"), "utf8")).toBe("led-dev\n");
});

it("isolation: worktree › creates a worktree, and TeamDelete names it if it stays", async () => {
  const p = await person();
  const agent = { name: "Agent", input: { name: "dev", prompt: "go", isolation: "worktree" }, as: "dev" };
  const down = { type: "shutdown_request", recipient: "dev" };
  const lead: PlaybookTurn[] = [
    { tools: [{ name: "TeamCreate", input: { team_name: "led" } }, agent] },
    {
      on: { contains: "teammate_spawned" },
      tools: [
        { name: "Bash", input: { command: "cp one.txt {{dev.worktree_path}}/left.txt && echo copied" } },
      ],
    },
    { on: { contains: "copied" }, tools: [{ name: "SendMessage", input: down }] },
    { on: { contains: "has shut down" }, tools: [{ name: "TeamDelete", input: {}, as: "gone" }] },
    { on: { contains: "deleted" }, say: "{{gone.message}}" },
  ];
  const ended = await ledBy(p, lead);
  const path = join(p.repository, ".worktrees/led-dev");
  expect(ended.json<{ result: string }>().result).toContain(`${path} (1 untracked file)`);
  expect(readFileSync(join(path, "left.txt"), "utf8")).toBe("app/one.txt\n");
});
