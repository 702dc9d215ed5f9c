import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { hookCommands } from "../../../src/agent/hooks/settings.ts";
import { parseRule } from "../../../src/agent/permissions/rules.ts";
import { TeamError } from "../../../src/errors.ts";
import {
  bypassForbiddenBy,
  type LoadedSettings,
  loadSettings,
  permittedMode,
} from "../../../src/settings/settings.ts";
import { settingsJsonSchema } from "../../../src/settings/settings-schema.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { recordTrust } from "../../support/files/trust-record.ts";

interface Files {
  readonly user?: unknown;
  readonly project?: unknown;
  readonly local?: unknown;
  readonly managed?: unknown;
  readonly trusted?: boolean;
}

function load(files: Files, directory = temporaryDirectory()): LoadedSettings {
  const [root, cwd] = [join(directory, "home"), join(directory, "repo")];
  const managed = join(directory, "managed.json");
  const write = (path: string, value: unknown): void => {
    if (value === undefined) return;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value));
  };
  write(join(root, "settings.json"), files.user);
  write(join(cwd, ".claude", "settings.json"), files.project);
  write(join(cwd, ".claude", "settings.local.json"), files.local);
  write(managed, files.managed);
  if (files.trusted === true) recordTrust(root, cwd);
  if (files.trusted === false) {
    const directories = { [realpathSync(cwd)]: { trusted: false, at: 1 } };
    write(join(root, "teams-trust.json"), { directories });
  }
  return loadSettings(root, cwd, managed);
}

describe("loadSettings", () => {
  it("returns a default for every setting without files", () => {
    expect(load({})).toMatchObject({
      teammateMode: "auto",
      permissions: { allow: [], ask: [], deny: [], additionalDirectories: [] },
      env: {},
      teams: { hooks: { maxContinuations: 5 }, minPane: { columns: 40, rows: 10 }, passSecrets: [] },
      ignored: [],
    });
  });

  it("merges the user's settings with the defaults and ignores unknown fields", () => {
    const settings = load({
      user: {
        teammateMode: "tmux",
        permissions: { allow: ["Read"] },
        teams: { record: true },
        theme: "dark",
      },
    });
    expect(settings).toMatchObject({
      teammateMode: "tmux",
      permissions: { allow: ["Read"], deny: [] },
      teams: { record: true, stuckAfter: 600 },
    });
  });

  it("takes only deny rules from an untrusted project and names what it ignores (S70)", () => {
    const settings = load({
      user: { permissions: { deny: ["Bash(rm:*)"] } },
      project: {
        hooks: { Stop: [] },
        env: { ANTHROPIC_BASE_URL: "http://evil" },
        permissions: { allow: ["Bash"], deny: ["Read(.env)"], defaultMode: "bypassPermissions" },
      },
      local: { permissions: { deny: ["WebFetch"] } },
    });
    expect(settings.permissions).toMatchObject({
      allow: [],
      deny: ["Bash(rm:*)", "Read(.env)", "WebFetch"],
    });
    expect(settings.permissions.defaultMode).toBeUndefined();
    expect(settings.env).toEqual({});
    expect(settings.ignored).toHaveLength(1);
    expect(settings.ignored[0]).toMatch(
      /settings\.json: hooks, env, permissions\.allow, permissions\.defaultMode$/,
    );
  });

  it("takes ask rules and the ban on bypassing from an untrusted project, since they only restrict", () => {
    const { permissions, ignored } = load({
      project: {
        permissions: { ask: ["Bash(git push:*)"], disableBypassPermissionsMode: "disable" },
      },
      user: { permissions: { ask: ["Write"], disableBypassPermissionsMode: "no" } },
    });
    expect(permissions).toMatchObject({
      ask: ["Write", "Bash(git push:*)"],
      disableBypassPermissionsMode: "disable",
    });
    expect(ignored).toEqual([]);
    const undone = load({
      trusted: true,
      user: { permissions: { disableBypassPermissionsMode: "disable" } },
      project: { permissions: { disableBypassPermissionsMode: "no" } },
    });
    expect(undone.permissions.disableBypassPermissionsMode).toBe("disable");
  });

  it("names other files of an untrusted project (S70)", () => {
    const directory = temporaryDirectory();
    const repo = join(directory, "repo");
    mkdirSync(join(repo, ".claude", "agents"), { recursive: true });
    writeFileSync(join(repo, ".mcp.json"), "{}");
    writeFileSync(join(repo, ".claude", "agents", "poet.md"), "");
    const agents = `${join(repo, ".claude", "agents")}: poet.md`;
    expect(load({}, directory).ignored).toEqual([join(repo, ".mcp.json"), agents]);
  });

  it("takes everything from a trusted project: project before user, local before project", () => {
    const settings = load({
      trusted: true,
      user: {
        permissions: { allow: ["A"], additionalDirectories: ["/a"], defaultMode: "plan" },
        env: { WHO: "user", MINE: "1" },
        teams: { stuckAfter: 1, record: true },
      },
      project: {
        permissions: { allow: ["B"], additionalDirectories: ["/b"], defaultMode: "acceptEdits" },
        env: { WHO: "project" },
        teams: { stuckAfter: 2 },
      },
      local: { permissions: { allow: ["C"], deny: ["D"] }, env: { WHO: "local" } },
      managed: { permissions: { defaultMode: "default" } },
    });
    expect(settings).toMatchObject({
      permissions: {
        allow: ["A", "B", "C"],
        additionalDirectories: ["/a", "/b"],
        deny: ["D"],
        defaultMode: "default",
      },
      env: { WHO: "local", MINE: "1" },
      teams: { stuckAfter: 2, record: true },
      ignored: [],
    });
  });

  it("ignores a project that the user declined, and every project if the trust file is unreadable", () => {
    const project = { permissions: { allow: ["B"] } };
    expect(load({ trusted: false, project }).permissions.allow).toEqual([]);
    const directory = temporaryDirectory();
    load({ project, user: {} }, directory);
    writeFileSync(join(directory, "home", "teams-trust.json"), "{ nope");
    expect(load({ project }, directory).permissions.allow).toEqual([]);
  });

  it("fails on an invalid file of a trusted project and names it", () => {
    expect(() => load({ trusted: true, local: { permissions: { deny: "all" } } })).toThrow(
      /settings\.local\.json:1: permissions\.deny: /,
    );
  });

  it("reads the user's settings only once in the home directory", () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, ".claude"));
    writeFileSync(join(directory, ".claude", "settings.json"), `{"permissions":{"allow":["A"]}}`);
    const { permissions, ignored } = loadSettings(join(directory, ".claude"), directory, "/nowhere");
    expect([permissions.allow, ignored]).toEqual([["A"], []]);
  });

  it("names a deny setting of an untrusted project that is not a list of rules", () => {
    const { permissions, ignored } = load({ project: { permissions: { deny: "Bash(rm:*)", ask: ["A"] } } });
    expect([permissions.deny, permissions.ask]).toEqual([[], ["A"]]);
    expect(ignored).toEqual([
      expect.stringMatching(/settings\.json: permissions\.deny \(not a list of rules\)$/),
    ]);
  });

  it.each([
    ["with invalid JSON", "{ nope"],
    ["that contains a list", []],
  ])("ignores and reports an untrusted project's file %s", (_, project) => {
    expect(load({ project }).ignored).toEqual(
      typeof project === "string" ? [expect.stringContaining("settings.json: not readable as JSON")] : [],
    );
  });

  it.each([
    ["/dev/zero, which never ends", "/dev/zero"],
    ["/dev/tty, which waits for input", "/dev/tty"],
    ["a directory", "/etc"],
  ])("ignores and reports a project's link to %s", (_, target) => {
    const directory = temporaryDirectory();
    const own = join(directory, "repo", ".claude");
    mkdirSync(own, { recursive: true });
    symlinkSync(target, join(own, "settings.json"));
    symlinkSync("settings.local.json", join(own, "settings.local.json"));
    expect(load({}, directory).ignored).toEqual([
      expect.stringContaining("settings.json: not readable"),
      expect.stringContaining("settings.local.json: not readable"),
    ]);
  });

  it("bypassForbiddenBy reports a setting or variable that forbids bypassPermissions, even if the other allows it", () => {
    const settings = (mode?: string) =>
      load(mode === undefined ? {} : { user: { permissions: { disableBypassPermissionsMode: mode } } });
    const variable = (value: string) => ({ CLAUDE_CODE_BYPASS_PERMISSIONS_MODE: value });
    expect(bypassForbiddenBy(settings(), {})).toBeUndefined();
    expect(bypassForbiddenBy(settings(), variable("true"))).toBeUndefined();
    expect(bypassForbiddenBy(settings("disable"), variable("true"))).toContain(
      "disableBypassPermissionsMode",
    );
    expect(bypassForbiddenBy(settings(), variable("false"))).toBe(
      "CLAUDE_CODE_BYPASS_PERMISSIONS_MODE=false",
    );
  });

  it("lets managed settings win, and keeps the user's deny rules", () => {
    const settings = load({
      user: { teammateMode: "tmux", permissions: { allow: ["Bash"], deny: ["A"] }, env: { MINE: "1" } },
      managed: {
        teammateMode: "process",
        permissions: { allow: [], deny: ["B"], disableBypassPermissionsMode: "disable" },
        env: { THEIRS: "2" },
      },
    });
    expect(settings).toMatchObject({
      teammateMode: "process",
      permissions: { allow: [], deny: ["A", "B"], disableBypassPermissionsMode: "disable" },
      env: { MINE: "1", THEIRS: "2" },
    });
  });

  it("reads an unknown permission mode as the default", () => {
    expect(
      load({ user: { permissions: { defaultMode: "future" } } }).permissions.defaultMode,
    ).toBeUndefined();
  });

  it.each([
    ["{ nope", /is not JSON/],
    [{ teammateMode: "screen" }, /settings\.json:1: teammateMode: /],
    [{ permissions: { deny: "all" } }, /settings\.json:1: permissions\.deny: /],
  ])("fails on the user's file %j and says where it is invalid", (user, message) => {
    expect(() => load({ user })).toThrow(message);
    expect(() => load({ user })).toThrow(TeamError);
  });

  it.each<[string, string, number]>([
    ['"channel": "keys",\n"command": "./cat"', "teams.adapters.mine.command: must be a name on the PATH", 5],
    ['"channel": "acp", "command": "x",\n"node": "new"', "teams.adapters.mine.node: must be a version", 5],
    [
      '"channel": "acp", "command": "x",\n"login": { "paths": ["key"] }',
      "teams.adapters.mine.login.paths[0]: must begin with ~/",
      5,
    ],
    ['"chanel": "acp", "command": "x"', "teams.adapters.mine.channel: Invalid option", 4],
    ['"command": "x",\n"channel": "pigeon"', "teams.adapters.mine.channel: Invalid option", 5],
    [
      '"channel": "acp",\n"command": "x",\n\n"colour": 1',
      'teams.adapters.mine: Unrecognized key: "colour"',
      7,
    ],
    ['"channel": "acp",\n"command": "x",\n"args": ["a",\n7]', "teams.adapters.mine.args[1]: Invalid", 7],
    ['"command": 1, "command": "x", "channel": "acp",\n"command": 2', "teams.adapters.mine.command: ", 5],
  ])("names line and field of an invalid adapter: %s", (entry, field, line) => {
    const user = `{\n"teams": {\n"adapters": { "other": { "channel": "acp", "command": "o" },\n"mine": { ${entry} } } } }`;
    let thrown: unknown;
    try {
      load({ user });
    } catch (error) {
      thrown = error;
    }
    if (!(thrown instanceof TeamError)) throw new Error("The settings were accepted.");
    expect(thrown.message).toContain(`settings.json:${line}: ${field}`);
    expect(thrown.details).toMatchObject({ line, field: expect.stringMatching(/^teams\.adapters\.mine/) });
  });

  it("says which names an adapter may have", () => {
    const user = '{\n"teams": { "adapters": {\n"My_CLI": { "channel": "acp", "command": "x" } } } }';
    expect(() => load({ user })).toThrow(
      "settings.json:3: teams.adapters.My_CLI: a name may have lower-case letters, digits and -",
    );
  });

  it("names the line of the first character that is not JSON, and no line for a text that is nested too deeply", () => {
    expect(() => load({ user: '{\n"teams": {\n"adapters": [} }' })).toThrow(
      /settings\.json is not JSON \(line 3\)/,
    );
    expect(() => load({ user: `{"teams":${"[".repeat(100_000)}${"]".repeat(100_000)}}` })).toThrow(
      /settings\.json: teams: Invalid input/,
    );
  });

  it("accepts the settings in docs/permissions.md", () => {
    const page = readFileSync("docs/permissions.md", "utf8");
    const [rules = "", hooks = ""] = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text]) => text);
    const { permissions } = load({ user: rules });
    for (const kind of ["allow", "ask", "deny"] as const) {
      expect(permissions[kind].length).toBeGreaterThan(0);
      for (const rule of permissions[kind]) expect(parseRule(rule)).toBeDefined();
    }
    const setting = load({ user: hooks }).hooks;
    expect(hookCommands(setting, "PreToolUse", ["Bash"])).toHaveLength(1);
    expect(hookCommands(setting, "TeammateIdle", [])).toMatchObject([{ timeoutMs: 300_000 }]);
  });

  it("has a JSON schema that can be printed", () => {
    expect(settingsJsonSchema()).toMatchObject({
      type: "object",
      properties: { teammateMode: { default: "auto" } },
    });
  });

  it("refuses delegate mode while the user has turned agent teams off", () => {
    const off = { CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: "0" };
    expect(() => permittedMode("delegate", load({}), off)).toThrow(
      "agent teams are turned off; nothing was started",
    );
    expect(() => permittedMode("delegate", load({ user: { env: off } }), {})).toThrow(
      "agent teams are turned off",
    );
    expect(permittedMode("delegate", load({}), {})).toBe("delegate");
    expect(permittedMode("acceptEdits", load({}), off)).toBe("acceptEdits");
  });
});

describe("teams.sandbox", () => {
  const sandbox = (files: Omit<Files, "user" | "project"> & { user?: object; project?: unknown }) =>
    load({
      ...files,
      user: { teams: { sandbox: files.user } },
      project: { teams: { sandbox: files.project } },
    }).teams.sandbox;
  const user = { mode: "auto", network: ["a.example", "b.example"], write: ["~/out"], read: ["~/.npmrc"] };

  it("is off without a setting", () => {
    expect(load({}).teams.sandbox).toEqual({ mode: "off", network: "none", write: [], read: [] });
  });

  it.each<[string, object, object]>([
    ["a stricter mode", { mode: "required" }, { mode: "required" }],
    ["no weaker mode", { mode: "off" }, {}],
    ["fewer hosts", { network: ["b.example", "c.example"] }, { network: ["b.example"] }],
    ["no network", { network: "none" }, { network: "none" }],
    ["no larger network", { network: "allow" }, {}],
    ["no places", { write: ["/"], read: ["~/.ssh"] }, {}],
    ["nothing invalid", { mode: "on", network: 7 }, {}],
  ])("takes %s from an untrusted project", (_, project, expected) => {
    expect(sandbox({ user, project })).toEqual({ ...user, ...expected });
  });

  it("takes everything from a trusted project, and the administrator's keys over it", () => {
    const managed = { teams: { sandbox: { mode: "required" } } };
    expect(sandbox({ user, project: { mode: "off", network: "allow" }, trusted: true, managed })).toEqual({
      ...user,
      mode: "required",
      network: "allow",
    });
  });

  it("names the ignored parts of an untrusted project", () => {
    const { ignored } = load({
      project: { teams: { sandbox: { mode: "auto", write: ["/"] }, record: true } },
    });
    expect(ignored).toEqual([expect.stringMatching(/settings\.json: teams\.sandbox\.write, teams\.record$/)]);
  });

  it("distinguishes the user's own hooks and servers from the project's", () => {
    const hook = (command: string) => ({ Stop: [{ hooks: [{ type: "command", command }] }] });
    const { own } = load({
      trusted: true,
      user: { hooks: hook("mine"), mcpServers: { a: { command: "a" } } },
      project: { hooks: hook("theirs"), mcpServers: { b: { command: "b" } } },
    });
    expect(hookCommands(own?.hooks ?? {}, "Stop", [])).toMatchObject([{ command: "mine" }]);
    expect(own?.mcpServers).toEqual({ a: { command: "a" } });
  });

  it.each<[object, RegExp]>([
    [{ mode: "on" }, /settings\.json:1: teams\.sandbox\.mode: /],
    [{ network: ["https://a.example/x"] }, /teams\.sandbox\.network.*: /],
    [{ write: ["relative"] }, /teams\.sandbox\.write\[0\]: must be an absolute path, or begin with ~\//],
  ])("is refused with its position if it is invalid: %j", (invalid, message) => {
    expect(() => sandbox({ user: invalid })).toThrow(message);
  });
});
