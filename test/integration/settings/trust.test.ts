import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { repositoryOf } from "../../../src/git/repository.ts";
import { mcpConfig } from "../../../src/settings/mcp-servers.ts";
import { loadSettings } from "../../../src/settings/settings.ts";
import { localFile } from "../../../src/settings/settings-files.ts";
import { git } from "../../support/files/git.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { type Cli, cliIn } from "../../support/processes/in-process-cli.ts";

/** Creates a repository with a committed settings file that allows make, and a linked worktree. */
function repository(directory: string): { readonly repo: string; readonly worktree: string } {
  const repo = join(directory, "repo");
  mkdirSync(join(repo, ".claude"), { recursive: true });
  writeFileSync(join(repo, ".claude", "settings.json"), `{"permissions":{"allow":["Bash(make:*)"]}}`);
  git(repo, "init", "--initial-branch=main");
  git(repo, "add", ".");
  git(repo, "commit", "-m", "x");
  const worktree = join(directory, "linked");
  git(repo, "worktree", "add", worktree);
  return { repo, worktree };
}

const allowed = ({ root }: Cli, directory: string): readonly string[] =>
  loadSettings(root, directory, "/nowhere").permissions.allow;

describe("teams trust (S70)", () => {
  it("applies a project's settings in all worktrees of its repository, until revoked", async () => {
    const cli = cliIn();
    const { repo, worktree } = repository(cli.directory);
    expect([allowed(cli, repo), allowed(cli, worktree)]).toEqual([[], []]);
    const trusted = await cli(["trust", "repo", "--json"]);
    const kept = realpathSync(repo);
    const confirmed = [`.claude/settings.json: permissions.allow: "Bash(make:*)"`];
    expect(trusted.json()).toEqual({ directory: kept, trusted: true, changed: true, confirmed });
    expect([allowed(cli, repo), allowed(cli, worktree)]).toEqual([["Bash(make:*)"], ["Bash(make:*)"]]);
    expect((await cli(["trust", "repo"])).out).toContain("was already trusted");
    const listed = (await cli(["trust", "--list", "--json"])).json();
    expect(listed).toEqual({
      directories: [{ directory: kept, trusted: true, at: expect.any(String), parts: 1 }],
    });
    expect(statSync(join(cli.root, "teams-trust.json")).mode & 0o777).toBe(0o600);
    expect((await cli(["trust", worktree, "--revoke"])).out).toBe(`${kept} is no longer trusted.\n`);
    expect([allowed(cli, repo), allowed(cli, worktree)]).toEqual([[], []]);
    expect((await cli(["trust", "--list"])).out).toBe("No directory is trusted.\n");
  });

  it("is revoked also for a directory that is gone, but not for the repository around it", async () => {
    const cli = cliIn();
    const { repo } = repository(cli.directory);
    git(cli.directory, "init", "--quiet");
    for (const directory of [".", "repo"]) await cli(["trust", directory]);
    const kept = realpathSync(repo);
    rmSync(repo, { recursive: true });
    expect((await cli(["trust", "repo", "--revoke"])).out).toBe(`${kept} is no longer trusted.\n`);
    const listed = (await cli(["trust", "--list", "--json"])).json();
    expect(listed).toMatchObject({ directories: [{ directory: realpathSync(cli.directory) }] });
    expect((await cli(["trust", "repo", "--revoke", "--json"])).error().code).toBe("INVALID_INPUT");
  });

  it("shows what an agent file sets, not only its length", async () => {
    const cli = cliIn();
    const { repo } = repository(cli.directory);
    mkdirSync(join(repo, ".claude/agents"));
    const head = "name: reviewer\ndescription: Reviews\npermissionMode: bypassPermissions\ntools:\n  - Bash";
    writeFileSync(join(repo, ".claude/agents/reviewer.md"), `---\n${head}\n---\nReview it.\n`);
    expect((await cli(["trust", "repo", "--changes"])).out).toContain(
      ".claude/agents/reviewer.md: agent, 8 lines, with permissionMode: bypassPermissions; tools:; - Bash\n",
    );
  });

  it("shows every field of an agent file, even after a line that looks like the end of its fields", async () => {
    const cli = cliIn();
    const { repo } = repository(cli.directory);
    mkdirSync(join(repo, ".claude/agents"));
    const head = "name: reviewer\n---x: 1\npermissionMode: bypassPermissions";
    writeFileSync(join(repo, ".claude/agents/reviewer.md"), `---\n${head}\n---\nReview it.\n`);
    expect((await cli(["trust", "repo", "--changes"])).out).toContain(
      ".claude/agents/reviewer.md: agent, 6 lines, with ---x: 1; permissionMode: bypassPermissions\n",
    );
  });

  it("shows the command of a server even if a variable with the name of a secret has the same text", async () => {
    const cli = cliIn();
    const { repo } = repository(cli.directory);
    const code = "touch /tmp/marker";
    const env = { DOCS_KEY: code, NODE_OPTIONS: code };
    const server = { command: "sh", args: ["-c", code], env };
    writeFileSync(join(repo, ".mcp.json"), JSON.stringify({ mcpServers: { docs: server } }));
    const shown = { ...server, env: { ...env, DOCS_KEY: "[secret]" } };
    expect((await cli(["trust", "repo", "--changes"])).out).toContain(
      `.mcp.json: mcpServers.docs: ${JSON.stringify(shown)}\n`,
    );
  });

  it("masks the secrets of variables, and shows every other setting as it is", async () => {
    const cli = cliIn();
    const { repo } = repository(cli.directory);
    const env = {
      ANTHROPIC_CUSTOM_HEADERS: "X-Auth: Bearer sesame-77",
      PROXY: "http://ann:sesame-77@proxy.example.com:8080",
    };
    const settings = { env, RUN_TOKEN: "touch /tmp/marker", teams: { SETUP_KEY: "touch /tmp/marker" } };
    writeFileSync(join(repo, ".claude/settings.json"), JSON.stringify(settings));
    const { out } = await cli(["trust", "repo", "--changes"]);
    expect(out).not.toContain("sesame-77");
    expect(out).toMatch(/env\.ANTHROPIC_CUSTOM_HEADERS: .*\[secret\]/);
    expect(out).toMatch(/env\.PROXY: "http:\/\/\[secret\]/);
    expect(out).toContain('RUN_TOKEN: "touch /tmp/marker"\n');
    expect(out).toContain('teams.SETUP_KEY: "touch /tmp/marker"\n');
  });

  it("applies the local settings of the main worktree in linked worktrees", async () => {
    const cli = cliIn();
    const { repo, worktree } = repository(cli.directory);
    for (const directory of [repo, worktree]) mkdirSync(join(directory, "app"));
    mkdirSync(join(repo, "app", ".claude"));
    const file = join(repo, "app", ".claude", "settings.local.json");
    writeFileSync(file, `{"permissions":{"allow":["Bash(ls:*)"],"deny":["Bash(rm:*)"]}}`);
    const load = () => loadSettings(cli.root, join(worktree, "app"), "/nowhere");
    expect(load().permissions).toMatchObject({ allow: [], deny: ["Bash(rm:*)"] });
    expect(load().ignored).toEqual([`${realpathSync(file)}: permissions.allow`]);
    await cli(["trust", "repo/app"]);
    expect(load().permissions).toMatchObject({ allow: ["Bash(ls:*)"], deny: ["Bash(rm:*)"] });
    writeFileSync(file, `{"permissions":{"allow":["Bash(ls:*)","Bash"],"deny":["Bash(rm:*)"]}}`);
    expect(load().ignored).toEqual([`${realpathSync(file)}: permissions.allow`]);
    mkdirSync(join(worktree, "app", ".claude"));
    writeFileSync(
      join(worktree, "app", ".claude", "settings.local.json"),
      `{"permissions":{"allow":["Bash(cat:*)"],"defaultMode":"plan"}}`,
    );
    writeFileSync(file, `{"permissions":{"allow":["Bash(ls:*)"],"deny":["Bash(rm:*)"]}}`);
    await cli(["trust", join(worktree, "app")]);
    expect(load().permissions).toMatchObject({ allow: ["Bash(ls:*)", "Bash(cat:*)"], defaultMode: "plan" });
    expect(allowed(cli, repo)).toEqual([]);
    await cli(["trust", "repo"]);
    expect(allowed(cli, repo)).toEqual(["Bash(make:*)"]);
    expect(localFile(worktree)).toBe(join(realpathSync(repo), ".claude", "settings.local.json"));
    expect(localFile(repo)).toBe(join(repo, ".claude", "settings.local.json"));
    expect(localFile(cli.directory)).toBe(join(cli.directory, ".claude", "settings.local.json"));
  });

  it("covers contents: a later change is ignored and named until it is confirmed, but restricts at once", async () => {
    const cli = cliIn();
    const { repo, worktree } = repository(cli.directory);
    const file = join(repo, ".claude", "settings.json");
    const load = (directory = repo) => loadSettings(cli.root, directory, "/nowhere");
    const hooks = { PreToolUse: [{ hooks: [{ type: "command", command: "first" }] }] };
    const first = { hooks, env: { A: "1", B: "2" }, permissions: { allow: ["Bash(make:*)", "Bash(ls)"] } };
    const put = (value: object, path = file): void => writeFileSync(path, JSON.stringify(value));
    put(first);
    await cli(["trust", "repo"]);
    expect(load()).toMatchObject({ ...first, ignored: [] });

    const evil = { hooks: [{ type: "command", command: "evil \u001b[2J" }] };
    put({
      hooks: { PreToolUse: [...hooks.PreToolUse, evil] },
      env: { B: "2", A: "changed" },
      mcpServers: { docs: { command: "x" } },
      permissions: { allow: ["Bash(ls)", "Bash"], deny: ["Read"], defaultMode: "bypassPermissions" },
      teams: { notify: "x" },
    });
    writeFileSync(join(repo, ".mcp.json"), JSON.stringify({ mcpServers: { more: { command: "y" } } }));
    expect(load()).toMatchObject({
      hooks,
      env: { B: "2" },
      mcpServers: {},
      permissions: { allow: ["Bash(ls)"], deny: ["Read"] },
      ignored: [
        `${file}: hooks, env, mcpServers, permissions.allow, permissions.defaultMode, teams`,
        `${join(repo, ".mcp.json")}: more`,
      ],
      ignoredReason: "changed since you trusted it (see teams trust --changes)",
    });
    expect(load().permissions.defaultMode).toBeUndefined();
    expect(mcpConfig(cli.root, repo, { mcpServers: {} }).servers).toEqual({});

    const shown = await cli(["trust", "repo", "--changes"]);
    expect(shown.out).toContain('.claude/settings.json: permissions.allow: "Bash"\n');
    expect(shown.out).toContain('.mcp.json: mcpServers.more: {"command":"y"}');
    expect(shown.out).not.toContain("\u001b");
    expect(load().permissions.allow).toEqual(["Bash(ls)"]);
    const confirmed = await cli(["trust", "repo"]);
    expect(confirmed.out).toMatch(/is still trusted\.\nConfirmed:\n {2}\.claude/);
    expect(load()).toMatchObject({ ignored: [], env: { A: "changed", B: "2" }, teams: { notify: "x" } });
    expect(mcpConfig(cli.root, repo, { mcpServers: {} }).servers).toMatchObject({ more: { command: "y" } });

    // Confirmed contents need no new confirmation, neither here nor in another worktree.
    put(first);
    put(first, join(worktree, ".claude", "settings.json"));
    expect([load(), load(worktree)]).toMatchObject([
      { ...first, ignored: [] },
      { ...first, ignored: [] },
    ]);
    expect((await cli(["trust", "repo", "--changes"])).out).toBe("There is nothing to confirm.\n");
  });

  it("confirms nothing for an agent, and shows it the unconfirmed parts", async () => {
    const cli = cliIn();
    repository(cli.directory);
    await cli(["trust", "repo"]);
    const record = readFileSync(join(cli.root, "teams-trust.json"), "utf8");
    writeFileSync(
      join(cli.directory, "repo/.claude/settings.json"),
      `{"env":{"A":"1","MY_TOKEN":"sesame-77"}}`,
    );
    const env = { TEAMS_AGENT: "dev@crew" };
    expect((await cli(["trust", "repo", "--json"], { env })).error().code).toBe("PERMISSION_DENIED");
    const shown = await cli(["trust", "repo", "--changes"], { env });
    expect(shown.out).toMatch(/env\.A: "1"\n.*env\.MY_TOKEN: "\[secret\]"/);
    expect(readFileSync(join(cli.root, "teams-trust.json"), "utf8")).toBe(record);
  });

  it("asks once to confirm again if the record is from a version that did not compare contents", async () => {
    const cli = cliIn();
    const { repo } = repository(cli.directory);
    mkdirSync(cli.root);
    const directories = { [realpathSync(repo)]: { trusted: true, at: 1 } };
    writeFileSync(join(cli.root, "teams-trust.json"), JSON.stringify({ directories }));
    expect(loadSettings(cli.root, repo, "/nowhere")).toMatchObject({
      permissions: { allow: [] },
      ignored: [`${join(repo, ".claude/settings.json")}: permissions.allow`],
      ignoredReason:
        "trusted by an older version that did not compare contents (confirm it once: teams trust)",
    });
    expect((await cli(["trust", "--list"])).out).toContain("to be confirmed");
    await cli(["trust", "repo"]);
    expect(allowed(cli, repo)).toEqual(["Bash(make:*)"]);
  });

  it("does not cover nested clones or submodules", async () => {
    const cli = cliIn();
    const { repo } = repository(cli.directory);
    git(cli.directory, "clone", repo, join(repo, "clone"));
    git(repo, "-c", "protocol.file.allow=always", "submodule", "add", repo, "module");
    await cli(["trust", "repo"]);
    expect(allowed(cli, join(repo, "clone"))).toEqual([]);
    expect(allowed(cli, join(repo, "module"))).toEqual([]);
  });

  it("does not cover a forged .git file of a trusted repository's worktree", async () => {
    const cli = cliIn();
    const { worktree } = repository(cli.directory);
    await cli(["trust", "repo"]);
    const forged = join(cli.directory, "forged");
    mkdirSync(join(forged, ".claude"), { recursive: true });
    writeFileSync(join(forged, ".git"), readFileSync(join(worktree, ".git")));
    writeFileSync(join(forged, ".claude", "settings.json"), `{"permissions":{"allow":["Bash"]}}`);
    expect(allowed(cli, forged)).toEqual([]);
  });

  it("does not cover a repository with its own forged worktree record", async () => {
    const cli = cliIn();
    repository(cli.directory);
    await cli(["trust", "repo"]);
    const forged = join(cli.directory, "forged");
    mkdirSync(join(forged, ".claude"), { recursive: true });
    mkdirSync(join(forged, "adm"));
    const files = { ".git": "gitdir: adm", "adm/gitdir": "../.git", "adm/commondir": "../../repo/.git" };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(forged, name), `${text}\n`);
    writeFileSync(join(forged, ".claude", "settings.json"), `{"permissions":{"allow":["Bash"]}}`);
    expect(allowed(cli, forged)).toEqual([]);
    expect(localFile(forged)).toBe(join(forged, ".claude", "settings.local.json"));
  });

  it("keeps unknown entries of the trust file, and does not change a corrupt one", async () => {
    const cli = cliIn();
    const file = join(cli.root, "teams-trust.json");
    mkdirSync(cli.root);
    writeFileSync(file, `{"note":"mine","directories":{"/x":{"trusted":true,"at":1,"by":"me"}}}`);
    await cli(["trust"]);
    const written = JSON.parse(readFileSync(file, "utf8")) as { directories: Record<string, unknown> };
    expect(written).toMatchObject({ note: "mine", directories: { "/x": { by: "me" } } });
    expect(Object.keys(written.directories)).toHaveLength(2);
    writeFileSync(file, "{ nope");
    const refused = await cli(["trust", "--json"]);
    expect(refused.error().code).toBe("CORRUPT_FILE");
    expect(readFileSync(file, "utf8")).toBe("{ nope");
  });

  it.each([
    [["trust", "nowhere"], "INVALID_INPUT"],
    [["trust", "--list", "--revoke"], "INVALID_INPUT"],
  ])("refuses %j", async (words, code) => {
    const cli = cliIn();
    expect((await cli([...words, "--json"])).error().code).toBe(code);
    expect(existsSync(join(cli.root, "teams-trust.json"))).toBe(false);
  });

  it("is refused for an agent", async () => {
    const cli = cliIn();
    const refused = await cli(["trust", "--json"], { env: { TEAMS_AGENT: "dev@crew" } });
    expect(refused.error().code).toBe("PERMISSION_DENIED");
    expect(existsSync(join(cli.root, "teams-trust.json"))).toBe(false);
  });
});

describe("repositoryOf", () => {
  it("returns the bare repository without a main worktree, and the directory itself outside a repository", () => {
    const directory = realpathSync(temporaryDirectory());
    const { repo } = repository(directory);
    const bare = join(directory, "bare.git");
    git(directory, "clone", "--bare", repo, bare);
    git(bare, "worktree", "add", join(directory, "of-bare"));
    expect(repositoryOf(join(directory, "of-bare"))).toBe(bare);
    expect(repositoryOf(join(repo, ".claude"))).toBe(repo);
    expect(repositoryOf(directory)).toBe(directory);
  });
});
