import { execFileSync, spawnSync } from "node:child_process";
import { chownSync, cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { removeTree } from "../../../src/os/files/fs.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { type BuiltOptions, TEAMS, teamsIn } from "../../support/processes/built-program.ts";
import { attackedRepository, NAMESPACE_ATTACK } from "../../support/sandbox/namespace-attack.ts";
import { noSandbox } from "../../support/sandbox/sandboxed-agent.ts";
import { eventually } from "../../support/timing/eventually.ts";

/** A uid without an account. */
const NOBODY = 54_321;

/** Only root can run a program as another user. */
describe.runIf(process.getuid?.() === 0)("as a user without an account", () => {
  const place = () => {
    const base = temporaryDirectory();
    for (const [name, owner] of [
      ["repo", NOBODY],
      ["home", NOBODY],
      ["theirs", 0],
    ] as const) {
      mkdirSync(join(base, name), { mode: 0o700 });
      chownSync(join(base, name), owner, owner);
    }
    chownSync(base, NOBODY, NOBODY);
    onTestFinished(() => removeTree(`/tmp/teams-${NOBODY}`));
    const env = { PATH: process.env.PATH, TEAMS_HOME: join(base, "home") };
    const asRoot = teamsIn(env, join(base, "repo"));
    // The checkout may be in a directory that only root may read.
    cpSync(dirname(TEAMS), join(base, "dist"), { recursive: true });
    const nobody = { uid: NOBODY, program: join(base, "dist", basename(TEAMS)) };
    const teams = (words: readonly string[], more: BuiltOptions = {}) =>
      asRoot(words, { ...nobody, ...more });
    return { base, run: (...words: string[]) => teams(words), teams };
  };

  it("teams works without HOME, and ignores XDG_RUNTIME_DIR of another user", async () => {
    const { base, teams } = place();
    const env = { XDG_RUNTIME_DIR: join(base, "theirs") };
    const run = (...words: string[]) => teams(words, { env });
    expect((await run("create", "crew")).code).toBe(0);
    const spawned = await run(
      "spawn",
      "ada",
      "--prompt",
      "hello",
      "--model",
      "scripted",
      "--teammate-mode",
      "process",
    );
    expect([spawned.code, spawned.err]).toEqual([0, expect.any(String)]);
    await eventually("ada to be idle", async () => (await run("status", "--json")).out.includes('"idle"'));
    expect(existsSync(join(base, "theirs", "teams"))).toBe(false);
    expect((await run("delete", "--force")).code).toBe(0);
  });

  it.skipIf(noSandbox !== undefined)(
    `a command in the sandbox cannot enter a user namespace to replace git's files${noSandbox === undefined ? "" : ` (skipped: ${noSandbox})`}`,
    async () => {
      const { base, teams } = place();
      const project = join(base, "repo");
      // Git, which root runs, refuses the repository of another user.
      chownSync(project, 0, 0);
      const changed = attackedRepository(project);
      const tools = [{ name: "Bash", input: { command: `${NAMESPACE_ATTACK}; echo over > over` } }];
      const agents = { dev: [{ tools }, { say: "done", repeat: true }] };
      writeFileSync(join(project, "play.json"), JSON.stringify({ version: 1, agents }));
      const settings = {
        permissions: { allow: ["Bash"], defaultMode: "bypassPermissions" },
        teams: { sandbox: { mode: "required", network: "allow" } },
      };
      writeFileSync(join(base, "home", "settings.json"), JSON.stringify(settings));
      execFileSync("chown", ["-R", `${NOBODY}:${NOBODY}`, project, join(base, "home")]);
      const own = join(base, "home");
      const run = (...words: string[]) => teams(words, { env: { HOME: own, XDG_RUNTIME_DIR: own } });
      await run("create", "crew");
      const words = ["--model", `scripted:${join(project, "play.json")}`, "--teammate-mode", "process"];
      const spawned = await run("spawn", "dev", "--prompt", "Begin.", ...words);
      expect(spawned.code, spawned.err).toBe(0);
      await eventually("the end of the attack", () => existsSync(join(project, "over")));
      expect(changed()).toEqual([]);
      expect((await run("delete", "--force")).code).toBe(0);
    },
  );

  it("teams spawns into panes, kills and deletes", async () => {
    const { base, teams } = place();
    const sockets = join(base, "sockets");
    mkdirSync(sockets, { mode: 0o700 });
    chownSync(sockets, NOBODY, NOBODY);
    const env = { TMUX_TMPDIR: sockets, TEAMS_TMUX_SOCKET: "nobody", TMUX: "", SHELL: "/bin/sh" };
    const run = (...words: string[]) => teams(words, { env });
    onTestFinished(() => {
      spawnSync("tmux", ["-L", "nobody", "kill-server"], { env: { ...process.env, ...env }, uid: NOBODY });
    });
    expect((await run("create", "crew")).code).toBe(0);
    const where = ["--model", "scripted", "--teammate-mode", "tmux"];
    const spawned = await run("spawn", "ada", "--prompt", "hello", ...where);
    expect([spawned.code, spawned.err]).toEqual([0, expect.any(String)]);
    await eventually("ada to be idle", async () => (await run("status", "--json")).out.includes('"idle"'));
    for (const words of [["doctor"], ["kill", "ada", "--force"], ["delete", "--force"]]) {
      const { code, out, err } = await run(...words);
      expect([words, out, err].join("\n")).not.toMatch(/INTERNAL|bug in teams|uv_os|passwd/);
      if (words[0] !== "doctor") expect([words, code]).toEqual([words, 0]);
    }
  });

  it("teams run refuses an audit whose report it may not write", async () => {
    const { base, teams } = place();
    const [repository, report] = [join(base, "repo"), join(base, "shared", "AUDIT.md")];
    execFileSync("git", ["init", "--quiet", repository]);
    execFileSync("chown", ["-R", `${NOBODY}:${NOBODY}`, repository]);
    mkdirSync(dirname(report));
    const refused = await teams(["run", "--json", "--report", report], { env: { HOME: join(base, "home") } });
    expect([refused.code, refused.error().code]).toEqual([1, "PERMISSION_DENIED"]);
    expect(refused.error().message).toContain(report);
    expect((await teams(["ls", "--json"])).json()).toEqual({ teams: [] });
  });

  it("the error names TEAMS_HOME if teams cannot create its directory", async () => {
    const { teams } = place();
    const refused = await teams(["create", "crew"], { env: { TEAMS_HOME: "" } });
    expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/'\/\.claude'[\s\S]*TEAMS_HOME/)]);
  });

  it("teams ignores a settings.json of a third user, names it, and accepts root's", async () => {
    const { base, run } = place();
    const file = join(base, "home", "settings.json");
    writeFileSync(file, JSON.stringify({ teammateMode: "process" }), { mode: 0o644 });
    const modes = async (owner: number) => {
      chownSync(file, owner, owner);
      const { settings, ignored } = (await run("settings", "--json")).json<{
        settings: { teammateMode: string };
        ignored: string[];
      }>();
      return [settings.teammateMode, ignored];
    };
    expect(await modes(NOBODY + 1)).toEqual(["auto", [file]]);
    expect((await run("settings")).err).toContain(`Owned by another user, so ignored: ${file}`);
    expect((await run("doctor")).out).toContain(`${file} belongs to another user, so it is ignored`);
    expect(await modes(0)).toEqual(["process", []]);
    expect(await modes(NOBODY)).toEqual(["process", []]);
  });
});
