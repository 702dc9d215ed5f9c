import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { settingsFindings } from "../../../src/doctor/settings.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { cliIn } from "../../support/processes/in-process-cli.ts";

function findings(user: unknown, project?: unknown) {
  const directory = temporaryDirectory();
  const [root, cwd] = [join(directory, "root"), join(directory, "project")];
  const write = (path: string, value: unknown): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value));
  };
  write(join(root, "settings.json"), user);
  if (project !== undefined) write(join(cwd, ".claude/settings.json"), project);
  return settingsFindings(root, cwd, join(directory, "managed.json")).map(
    ({ level, text }) => `${level} ${text}`,
  );
}

it("settingsFindings › accepts readable settings, including entries of other programs", () => {
  expect(findings({})).toEqual(["ok can be read"]);
  expect(findings({ theme: "dark", hooks: { SessionEnd: [1], PreToolUze: [] } })).toEqual([
    "ok can be read; hooks for events of other programs: SessionEnd, PreToolUze",
  ]);
});

it("settingsFindings › fails for settings that commands refuse, with file and key", () => {
  const hooks = { PreToolUse: [{ matcher: "Glob", hooks: [{ command: 5 }] }] };
  expect(findings({ hooks })).toEqual([
    expect.stringMatching(/^fail .*settings\.json:1: hooks\.PreToolUse\[0\]\.hooks\[0\]/),
  ]);
  expect(findings("{")).toEqual([expect.stringMatching(/^fail .*settings\.json is not JSON/)]);
});

it("settingsFindings › warns about entries without effect: broken rules, unknown hook types, untrusted settings", () => {
  const permissions = { allow: ["Bash(git"], deny: ["Read"] };
  const hooks = { Stop: [{ hooks: [{ type: "prompt", prompt: "Is it done?" }, { type: "command" }] }] };
  expect(findings({ permissions, hooks }, { permissions: { allow: ["Bash"] } })).toEqual([
    "ok can be read",
    expect.stringContaining('warn the permission rule "Bash(git" is invalid'),
    'warn a hook of Stop is not run: its type is "prompt", and teams runs only "command"',
    "warn a hook of Stop is not run: it has no command",
    expect.stringMatching(/^warn not trusted, so ignored: .*permissions\.allow$/),
  ]);
});

it("settingsFindings › warns about a rule whose tool is misspelled, but not about a tool of another program", () => {
  const allow = ["Bash(git:*)", "bash", "WebSearch", "Task(x)", "mcp__foo__bar", "Frobnicate", "mcp__*"];
  const deny = ["Reed(.env)", "UnsandboxedBsh"];
  expect(findings({ permissions: { allow, deny } })).toEqual([
    "ok can be read",
    'warn the permission rule "Reed(.env)" has no effect: there is no tool Reed',
    'warn the permission rule "UnsandboxedBsh" has no effect: there is no tool UnsandboxedBsh',
  ]);
});

it("settingsFindings › warns about a default mode that does not exist", () => {
  expect(findings({ permissions: { defaultMode: "acceptEdit" } })).toEqual([
    "ok can be read",
    expect.stringMatching(/^warn .*settings\.json: permissions\.defaultMode "acceptEdit" has no effect/),
  ]);
  expect(findings({ permissions: { defaultMode: "plan" } })).toEqual(["ok can be read"]);
});

it("settingsFindings › warns about keys of teams without effect: misspelled ones, and a path as one key", () => {
  const teams = { sandbox: { mod: "required" }, notfy: "true", models: { fast: "haiku" } };
  expect(findings({ teams, "teams.sandbox.mode": "required", sandbox: {} })).toEqual([
    "ok can be read",
    "warn teams.notfy has no effect: teams does not know this key",
    "warn teams.sandbox.mod has no effect: teams does not know this key",
    'warn the key "teams.sandbox.mode" has no effect: settings of teams are nested objects',
  ]);
});

it("teams doctor › fails if the settings check fails", async () => {
  const cli = cliIn();
  mkdirSync(cli.root, { recursive: true });
  writeFileSync(join(cli.root, "settings.json"), "[");
  const { code, json } = await cli(["doctor", "--json"]);
  expect(code).toBe(1);
  const { checks } = json<{ checks: { name: string; level: string }[] }>();
  expect(checks.filter(({ name }) => name === "settings")).toMatchObject([{ level: "fail" }]);
});
