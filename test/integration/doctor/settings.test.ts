import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { settingsFindings } from "../../../src/doctor/settings.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { cliIn } from "../../support/processes/in-process-cli.ts";

function look(user: unknown, project?: unknown) {
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

it("settings that can be read are well, whatever other programs keep in them", () => {
  expect(look({})).toEqual(["ok can be read"]);
  expect(look({ theme: "dark", hooks: { SessionStart: [1], PreToolUze: [] } })).toEqual([
    "ok can be read; hooks for events of other programs: SessionStart, PreToolUze",
  ]);
});

it("settings that every command would refuse fail, with the file and the key", () => {
  const hooks = { PreToolUse: [{ matcher: "Glob", hooks: [{ command: 5 }] }] };
  expect(look({ hooks })).toEqual([
    expect.stringMatching(/^fail .*settings\.json: hooks\.PreToolUse\[0\]\.hooks\[0\]/),
  ]);
  expect(look("{")).toEqual([expect.stringMatching(/^fail .*settings\.json is not JSON/)]);
});

it("what never does anything is named: broken rules, hooks of other kinds, what is not trusted", () => {
  const permissions = { allow: ["Bash(git"], deny: ["Read"] };
  const hooks = { Stop: [{ hooks: [{ type: "prompt", prompt: "Is it done?" }, { type: "command" }] }] };
  expect(look({ permissions, hooks }, { permissions: { allow: ["Bash"] } })).toEqual([
    "ok can be read",
    expect.stringContaining('warn the permission rule "Bash(git" is invalid'),
    'warn a hook of Stop is not run: its type is "prompt", and teams runs only "command"',
    "warn a hook of Stop is not run: it has no command",
    expect.stringMatching(/^warn not trusted, so ignored: .*permissions\.allow$/),
  ]);
});

it("doctor fails where the settings do", async () => {
  const cli = cliIn();
  mkdirSync(cli.root, { recursive: true });
  writeFileSync(join(cli.root, "settings.json"), "[");
  const { code, json } = await cli(["doctor", "--json"]);
  expect(code).toBe(1);
  const { checks } = json<{ checks: { name: string; level: string }[] }>();
  expect(checks.filter(({ name }) => name === "settings")).toMatchObject([{ level: "fail" }]);
});
