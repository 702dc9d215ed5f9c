import { mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readAgentTypes } from "../../../src/agent/prompts/agent-type-files.ts";
import { loadMemory } from "../../../src/agent/prompts/memory-files.ts";
import { loadSkills } from "../../../src/agent/prompts/skills.ts";
import { openNotes } from "../../../src/agent/prompts/type-notes.ts";
import { settingsFindings } from "../../../src/doctor/settings.ts";
import { TeamError } from "../../../src/errors.ts";
import { loadPlaybook } from "../../../src/runtime/agent/models.ts";
import { liveSettings } from "../../../src/settings/live-settings.ts";
import { mcpConfig } from "../../../src/settings/mcp-servers.ts";
import { prepareRuleChange } from "../../../src/settings/save-rule.ts";
import { loadSettings } from "../../../src/settings/settings.ts";
import { readSettingsText } from "../../../src/settings/settings-text.ts";
import { readTeamFile } from "../../../src/settings/team-file/read-team-file.ts";
import { readTeam } from "../../../src/team/config/config.ts";
import { unreadCount } from "../../../src/team/mailbox/receive.ts";
import { getTask } from "../../../src/team/tasks/tasks.ts";
import { afterReading, beforeReading } from "../../support/files/around-reading.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { recordTrust } from "../../support/files/trust-record.ts";
import { testTeam } from "../../support/team/test-team.ts";

const MARK = "\ufeff";
const FORMS: readonly (readonly [name: string, form: (text: string) => string])[] = [
  ["a byte order mark", (text) => MARK + text],
  ["CRLF line ends", (text) => text.replaceAll("\n", "\r\n")],
  ["both", (text) => MARK + text.replaceAll("\n", "\r\n")],
];
const SETTINGS = '{\n  "permissions": {\n    "deny": ["Bash(rm:*)"]\n  }\n}\n';

/** Creates a root and a trusted project; `put` writes their files in this form. */
function written(form: (text: string) => string) {
  const home = temporaryDirectory();
  const [root, cwd] = [join(home, "root"), join(home, "project")];
  const put = (path: string, text: string): string => {
    mkdirSync(join(home, path, ".."), { recursive: true });
    writeFileSync(join(home, path), form(text));
    return join(home, path);
  };
  mkdirSync(join(cwd, ".git"), { recursive: true });
  const settings = put("root/settings.json", SETTINGS);
  recordTrust(root, cwd);
  return { home, root, cwd, put, settings };
}

describe.each(FORMS)("texts that people write with %s", (_, form) => {
  it("are read as settings, by doctor too, and by a running agent", () => {
    const { root, cwd, put, settings } = written(form);
    put("project/.claude/settings.local.json", '{\n  "permissions": { "ask": ["WebFetch"] }\n}\n');
    const problems: string[] = [];
    const live = liveSettings(root, cwd, (problem) => problems.push(problem));
    const [finding] = settingsFindings(root, cwd, join(root, "none"));
    expect([loadSettings(root, cwd, join(root, "none")).permissions, finding?.text]).toEqual([
      expect.objectContaining({ deny: ["Bash(rm:*)"], ask: ["WebFetch"] }),
      "can be read",
    ]);
    writeFileSync(settings, form(SETTINGS.replace("(rm", "(mv")));
    expect([live().permissions.deny, problems]).toEqual([["Bash(mv:*)"], []]);
  });

  it("keep their form when a rule is saved into them", async () => {
    const { root, cwd, settings } = written(form);
    await prepareRuleChange(root, cwd, "user", ["Bash(ls:*)"], "person").save();
    const text = readFileSync(settings, "utf8");
    expect(loadSettings(root, cwd).permissions.allow).toEqual(["Bash(ls:*)"]);
    expect(text.replace(MARK, "")).toContain('"allow": [');
    expect(text).toBe(form(text.replace(MARK, "").replaceAll("\r\n", "\n")));
  });

  it("are read as .mcp.json, agent types, skills, notes and their lists", () => {
    const { root, cwd, home, put } = written(form);
    put("project/.mcp.json", '{\n  "mcpServers": { "boat": { "command": "boat" } }\n}\n');
    recordTrust(root, cwd);
    expect(mcpConfig(root, cwd, { mcpServers: {} }).problems).toEqual([]);
    put("root/agents/scribe.md", "---\nname: scribe\ntools: Read\nmemory: user\n---\nYou write.\n");
    const { types, problems } = readAgentTypes([{ directory: join(root, "agents"), names: ["scribe.md"] }]);
    const scribe = types.find(({ name }) => name === "scribe") ?? expect.fail("no type");
    expect([scribe, problems]).toEqual([
      expect.objectContaining({ tools: ["Read"], custom: "You write." }),
      [],
    ]);
    put("root/skills/sail/SKILL.md", "---\ndescription: How I sail.\n---\nHoist.\n");
    expect(
      loadSkills(
        { root, cwd, home },
        () => false,
        () => true,
      ).skills,
    ).toEqual([expect.objectContaining({ name: "sail", description: "How I sail." })]);
    put("root/CLAUDE.md", "# Mine\n@more.md\n");
    put("root/more.md", "More.\n");
    const memory = loadMemory({ root, cwd, home, isTrusted: true }, () => false);
    expect(memory.files.map(({ text }) => text)).toEqual([expect.stringMatching(/^# Mine/), "More."]);
    put("root/agent-memory/scribe/MEMORY.md", "# Notes\nFound it.\n");
    const notes = openNotes(scribe, root, cwd, () => false);
    expect(notes !== undefined && "section" in notes && notes.section).toMatch(/\n# Notes\r?\nFound it\./);
  });

  it("are read as playbooks and team files", () => {
    const { cwd, put } = written(form);
    const book = put("project/book.json", '{\n  "version": 1,\n  "agents": { "*": [{ "say": "Hi." }] }\n}\n');
    expect(loadPlaybook(book).agents["*"]).toHaveLength(1);
    put("project/team.json", '{\n  "name": "crew",\n  "members": [{ "name": "ada", "prompt": "Go." }]\n}\n');
    expect(readTeamFile("team.json", { cwd, env: { HOME: cwd } }).team.name).toBe("crew");
  });

  it("are read as a team's files that a person has edited", async () => {
    const ref = await testTeam(["ada"]);
    const edit = (path: string, text: string): void => writeFileSync(path, form(text));
    edit(ref.paths.config, readFileSync(ref.paths.config, "utf8"));
    edit(
      ref.paths.task("1"),
      '{\n"id":"1","subject":"s","description":"","status":"pending","blocks":[],"blockedBy":[]\n}\n',
    );
    edit(
      ref.paths.inbox("ada"),
      '[\n{"from":"user","text":"go","timestamp":"2026-01-01T00:00:00.000Z"}\n]\n',
    );
    expect(readTeam(ref).members.map(({ name }) => name)).toContain("ada");
    expect([getTask(ref, "1").subject, unreadCount(ref, "ada")]).toEqual(["s", 1]);
  });
});

describe.each([
  ["no byte", ""],
  ["whitespace", " \n"],
  ["only a byte order mark", MARK],
])("settings with %s", (_, text) => {
  /** Dates a file back, so that it cannot be in the middle of a write. */
  const old = (path: string): void => utimesSync(path, 1, 1);

  it("set nothing, for the agent and for doctor", () => {
    const { root, cwd, put, settings } = written(() => text);
    const others = [".mcp.json", ".claude/settings.json"].map((name) => put(`project/${name}`, text));
    for (const path of [settings, ...others]) old(path);
    expect(loadSettings(root, cwd, join(root, "none")).permissions.deny).toEqual([]);
    expect(settingsFindings(root, cwd, join(root, "none"))[0]?.text).toBe("can be read");
    expect(mcpConfig(root, cwd, { mcpServers: {} })).toEqual({ servers: {}, problems: [] });
  });

  it("accept a saved rule", async () => {
    const { root, cwd, settings } = written(() => text);
    old(settings);
    await prepareRuleChange(root, cwd, "user", ["Bash(ls:*)"], "person").save();
    expect(loadSettings(root, cwd).permissions.allow).toEqual(["Bash(ls:*)"]);
  });
});

describe("an emptied settings file", () => {
  it("lifts no deny rule of a running agent until it has content again", () => {
    const { root, cwd, put, settings } = written((text) => text);
    const problems: string[] = [];
    const live = liveSettings(root, cwd, (problem) => problems.push(problem));
    writeFileSync(settings, "");
    expect(live().permissions.deny).toEqual(["Bash(rm:*)"]);
    const problem = `the old settings stay in force: ${settings} is empty`;
    expect(problems).toEqual([problem]);
    put("project/.claude/settings.local.json", '{ "permissions": { "ask": ["WebFetch"] } }');
    expect([live().permissions.deny, problems]).toEqual([["Bash(rm:*)"], [problem, problem]]);
    writeFileSync(settings, `${MARK}\n`);
    expect([live().permissions.deny, problems.length]).toEqual([["Bash(rm:*)"], 3]);
    writeFileSync(settings, SETTINGS.replace("(rm", "(mv"));
    const { deny, ask } = live().permissions;
    expect([deny, ask, problems.length]).toEqual([["Bash(mv:*)"], ["WebFetch"], 3]);
    writeFileSync(settings, "{}");
    expect([live().permissions.deny, problems.length]).toEqual([[], 3]);
  });

  it("lifts no deny rule if it is emptied while the settings are read, again or for the first time", () => {
    const { root, cwd, settings } = written((text) => text);
    const padded = `${SETTINGS}${" ".repeat(200)}`;
    const problem = `the old settings stay in force: ${settings} is empty`;
    const problems: string[] = [];
    writeFileSync(settings, padded);
    const live = liveSettings(root, cwd, (text) => problems.push(text));
    writeFileSync(settings, `${padded}\n`);
    beforeReading(settings, () => writeFileSync(settings, ""));
    expect([live().permissions.deny, problems]).toEqual([["Bash(rm:*)"], []]);
    expect([live().permissions.deny, problems]).toEqual([["Bash(rm:*)"], [problem]]);
    writeFileSync(settings, padded);
    afterReading(settings, () => writeFileSync(settings, ""));
    const other = liveSettings(root, cwd, (text) => problems.push(text));
    expect([other().permissions.deny, problems.length]).toEqual([["Bash(rm:*)"], 2]);
  });

  it("is read again while an editor may be writing it", () => {
    const { settings } = written(() => "");
    let waits = 0;
    const text = readSettingsText(settings, () => {
      waits += 1;
      if (waits === 3) writeFileSync(settings, SETTINGS);
    });
    expect([text, waits]).toEqual([SETTINGS, 3]);
  });

  it.each([
    ["in the past", 1],
    ["in the future", 4_000_000_000],
  ])("is read once if its last change is long %s", (_, at) => {
    const { settings } = written(() => "");
    utimesSync(settings, at, at);
    expect(readSettingsText(settings, () => expect.fail("It waited."))).toBeUndefined();
  });
});

it("settings in UTF-16 › stop a start with the encoding as the reason, not with a missing comma", () => {
  const { root, cwd, settings } = written(() => "{}");
  writeFileSync(settings, Buffer.from(`${MARK}{"permissions":{}}`, "utf16le"));
  expect(() => loadSettings(root, cwd)).toThrow("is not UTF-8, but probably UTF-16");
});

describe("a file in Latin-1", () => {
  const latin1 = (path: string, text: string): void => writeFileSync(path, Buffer.from(text, "latin1"));
  const RULES = '{ "permissions": { "deny": ["Read(/café/**)", "Bash(rm:*)"] } }';

  it("stops a start, is named by doctor and keeps its bytes when a rule is saved", async () => {
    const { root, cwd, settings } = written((text) => text);
    latin1(settings, RULES);
    const before = readFileSync(settings);
    expect(() => loadSettings(root, cwd)).toThrow(`${settings} is not UTF-8.`);
    expect(settingsFindings(root, cwd, join(root, "none"))[0]?.text).toContain("is not UTF-8");
    const saving = async (): Promise<void> =>
      prepareRuleChange(root, cwd, "user", ["Bash(ls:*)"], "person").save();
    await expect(saving()).rejects.toThrow("is not UTF-8");
    expect(readFileSync(settings)).toEqual(before);
  });

  it("lifts no readable deny rule of a project that is not trusted", () => {
    const { root, cwd, put } = written((text) => text);
    rmSync(join(root, "teams-trust.json"));
    latin1(put("project/.claude/settings.json", ""), RULES);
    expect(loadSettings(root, cwd).permissions.deny).toContain("Bash(rm:*)");
  });

  it("is refused as .mcp.json, agent type, playbook and team file, with the encoding as the reason", () => {
    const { root, cwd, put } = written((text) => text);
    const servers = '{ "mcpServers": { "boat": { "command": "café" } } }';
    latin1(put("project/.mcp.json", ""), servers);
    recordTrust(root, cwd);
    expect(mcpConfig(root, cwd, { mcpServers: {} }).problems).toEqual([
      expect.stringContaining("is not UTF-8"),
    ]);
    latin1(
      put("root/agents/scribe.md", ""),
      "---\nname: scribe\ndisallowedTools: Read(/café/**)\n---\nHi.\n",
    );
    expect(readAgentTypes([{ directory: join(root, "agents"), names: ["scribe.md"] }]).problems).toEqual([
      expect.stringContaining("is not UTF-8"),
    ]);
    latin1(put("project/book.json", ""), '{ "version": 1, "agents": { "*": [{ "say": "café" }] } }');
    expect(() => loadPlaybook(join(cwd, "book.json"))).toThrow("is not UTF-8");
    latin1(put("project/team.json", ""), '{ "name": "crew", "description": "café" }');
    expect(() => readTeamFile("team.json", { cwd, env: { HOME: cwd } })).toThrow("is not UTF-8");
  });

  it("is not confused with a UTF-8 file that contains the replacement character", () => {
    const { root, cwd, settings } = written((text) => text);
    writeFileSync(settings, SETTINGS.replace("rm:", "\ufffd:"));
    expect(loadSettings(root, cwd).permissions.deny).toEqual(["Bash(\ufffd:*)"]);
  });
});

it("settings that are not JSON › still stop a start, with the line", () => {
  const { root, cwd } = written(() => `${MARK}{\n"a": 1,,\n}`);
  expect(() => loadSettings(root, cwd)).toThrow(TeamError);
  expect(() => loadSettings(root, cwd)).toThrow("is not JSON (line 2)");
});

it("settings with a comment › stop a start, with its line and the reason", () => {
  const { root, cwd } = written(() => '{\n"a": 1,\n// "b": 2,\n"c": 3\n}');
  expect(() => loadSettings(root, cwd)).toThrow("is not JSON (line 3)");
  expect(() => loadSettings(root, cwd)).toThrow(
    expect.objectContaining({ hint: expect.stringContaining("or a comment") }),
  );
});
