import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { TeamError } from "../../../../src/errors.ts";
import { readTeamFile } from "../../../../src/settings/team-file/read-team-file.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

type Options = Partial<Parameters<typeof readTeamFile>[1]>;

/** Writes files of a project, and reads team.json in it. */
function read(files: string | Readonly<Record<string, string>>, options: Options = {}) {
  const cwd = temporaryDirectory();
  mkdirSync(join(cwd, ".git"));
  const all = typeof files === "string" ? { "team.json": files } : files;
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  return { cwd, ...readTeamFile("team.json", { cwd, env: { HOME: "/home/ada" }, ...options }) };
}

/** Returns the lines of the error's message, without the clause that nothing was done. */
function problemsOf(...given: Parameters<typeof read>): string[] {
  try {
    read(...given);
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
    expect(error.code).toBe("INVALID_INPUT");
    const end = /(?:; n|\nN)othing was done\.$/;
    expect(error.message).toMatch(end);
    return error.message
      .replace(end, "")
      .split("\n")
      .map((line) => line.trim());
  }
  throw new Error("The file was accepted.");
}

const member = (fields: string): string =>
  `{ "name": "crew", "members": [{ "name": "ada", "prompt": "Go.", ${fields} }] }`;

describe("readTeamFile", () => {
  it("reads comments, trailing commas and every field, with absolute paths and amounts", () => {
    const { team, cwd } = read(`\uFEFF{
      // The crew.
      "$schema": "team.schema.json",
      "name": "crew", "description": "Reviews.", "model": "opus", "permissionMode": "acceptEdits",
      "maxTokens": "1.5M", "maxCost": 20,
      "members": [{
        "name": "ada", "prompt": "Review src.", "agentType": "reviewer", "model": "scripted:books/ada.json",
        "plan": true, "permissionMode": "default", "allowedTools": ["Bash(git:*)"], "disallowedTools": ["WebFetch"],
        "writes": ["src/**"], "sandbox": "required", "maxTokens": "500k", "maxCost": "2.50", "cwd": "src",
        "worktree": "ada/project", "metadata": { "ticket": 42 },
      }, { "name": "bob", "prompt": "Code.", "cli": "codex", "effort": "high" }],
      "tasks": [
        { "subject": "Second", "blockedBy": [1] },
        { "subject": "First", "description": "…", "owner": "ADA", "reviewer": "BOB", "verify": " npm test ", "touches": ["./src/**", "src/**"] },
        { "subject": "Third", "blockedBy": ["Second", 1, 0] },
      ],
      "lead": { "goal": "Review.", "model": "opus", "delegate": true },
    }`);
    const { at: _at, lead, members, tasks, ...rest } = team;
    expect(rest).toEqual({
      file: "team.json",
      directory: cwd,
      name: "crew",
      description: "Reviews.",
      model: "opus",
      permissionMode: "acceptEdits",
      budget: { maxTokens: 1_500_000, maxCostUsd: 20 },
    });
    expect(members).toMatchObject([
      {
        model: `scripted:${join(cwd, "books/ada.json")}`,
        budget: { maxTokens: 500_000, maxCostUsd: 2.5 },
        cwd: join(cwd, "src"),
        worktree: "ada/project",
        metadata: { ticket: 42 },
      },
      { name: "bob", cli: "codex", effort: "high", cwd },
    ]);
    expect(members[0]?.at("plan")).toEqual({ file: "team.json", line: 8, field: "members[0].plan" });
    expect(tasks).toMatchObject([
      {
        ...{ subject: "First", owner: "ada", reviewer: "bob", blockedBy: [] },
        ...{ verify: "npm test", touches: ["src/**"] },
      },
      { subject: "Second", blockedBy: ["First"] },
      { subject: "Third", blockedBy: ["Second", "First"] },
    ]);
    expect(lead).toMatchObject({ goal: "Review.", model: "opus", delegate: true });
  });

  it("reads ~/ as the home directory in every path", () => {
    const { team } = read(`{
      "name": "crew", "model": "scripted:~/team.json",
      "members": [{ "name": "ada", "prompt": "Go.", "model": "scripted:~/ada.json", "cwd": "~/src" }],
      "lead": { "model": "scripted:~/lead.json" },
    }`);
    expect(team).toMatchObject({
      model: "scripted:/home/ada/team.json",
      members: [{ model: "scripted:/home/ada/ada.json", cwd: "/home/ada/src" }],
      lead: { model: "scripted:/home/ada/lead.json" },
    });
  });

  it.each([
    ["~", "/home/ada"],
    ["~/", "/home/ada"],
    ["~/src/", "/home/ada/src"],
  ])("reads the directory %s without a slash at its end", (given, cwd) => {
    expect(read(member(`"cwd": "${given}"`)).team.members).toMatchObject([{ cwd }]);
  });

  it("reports all mistakes at once, each with its file, line and field", () => {
    expect(
      problemsOf(`{
        "name": "crew",
        "members": [
          { "name": "ada", "promt": "Go." },
          { "name": "b@b", "prompt": 5, "permissionMode": "yolo" },
        ],
        "tasks": [{ "subject": "x", "ower": "ada" }],
        "led": {}
      }`),
    ).toEqual([
      "team.json has 6 problems:",
      "team.json:4: members[0].prompt: is missing",
      'team.json:4: members[0]: there is no field "promt"; did you mean prompt?',
      "team.json:5: members[1].prompt: must be a string, but is a number",
      "team.json:5: members[1].permissionMode: must be default or acceptEdits or plan or bypassPermissions or dontAsk or delegate",
      'team.json:7: tasks[0]: there is no field "ower"; did you mean owner?',
      'team.json:8: there is no field "led"; did you mean lead?',
    ]);
  });

  it.each([
    ["no name", '{ "members": [] }', "team.json:1: name: is missing"],
    ["an impossible name", '{ "name": "…" }', 'team.json:1: name: "…" cannot be a team\'s name'],
    [
      "a reserved name of a member",
      member("").replace("ada", "team-lead").replace(", }", " }"),
      'team.json:1: members[0].name: "team-lead" is a reserved name',
    ],
    [
      "a wrong number of tokens",
      member('"maxTokens": "5 k"'),
      'team.json:1: members[0].maxTokens: must be a whole number above zero, or a string such as "500k" or "1.5M"',
    ],
    [
      "a number of tokens that is not whole",
      member('"maxTokens": "1.5"'),
      "team.json:1: members[0].maxTokens: must be a whole number above zero",
    ],
    [
      "a field that is given twice",
      member('"plan": true,\n"plan": false'),
      "team.json:2: members[0].plan: is given twice",
    ],
    [
      "a key for programs",
      member('"metadata": { "_budget": {} }'),
      "team.json:1: members[0].metadata: _budget is reserved: keys that begin with _ are for programs",
    ],
    [
      "a key for programs in a task",
      '{ "name": "crew", "tasks": [{ "subject": "Go", "metadata": { "_internal": true } }] }',
      "team.json:1: tasks[0].metadata: _internal is reserved: keys that begin with _ are for programs",
    ],
    ["a missing comma", '{ "name": "a"\n "members": [] }', "team.json:2: it is not JSON: a , is missing"],
    ["an empty file", " ", "team.json:1: it is empty"],
    ["deep nesting", "[".repeat(100_000), "team.json:1: "],
  ])("reports %s", (_what, text, problem) => {
    expect(problemsOf(text)[0]).toContain(problem);
  });

  it("reports equal names, wrong owners and blockers, and cycles of tasks", () => {
    const text = `{ "name": "crew",
      "members": [{ "name": "ada", "prompt": "Go." },
        { "name": "Ada", "prompt": "Go." }],
      "tasks": [{ "subject": "a", "owner": "bob" },
        { "subject": "b", "blockedBy": [7] },
        { "subject": "c", "blockedBy": ["d"] },
        { "subject": "d", "blockedBy": ["e"] },
        { "subject": "e", "blockedBy": [2, "nothing"] },
        { "subject": "a" },
        { "subject": "f", "reviewer": "bob", "touches": ["src", "/etc", "../x"] }] }`;
    expect(problemsOf(text).slice(1)).toEqual([
      'team.json:3: members[1].name: there are two members "Ada"',
      'team.json:4: tasks[0].owner: there is no member "bob"',
      "team.json:5: tasks[1].blockedBy[0]: there is no task at position 7; the positions are 0 to 6",
      "team.json:6: tasks[2].blockedBy: this task would wait for itself",
      'team.json:8: tasks[4].blockedBy[1]: there is no task with the subject "nothing"',
      "team.json:9: tasks[5].subject: there are two tasks with this subject",
      'team.json:10: tasks[6].reviewer: there is no member "bob"',
      'team.json:10: tasks[6].touches: "/etc" cannot be a pattern: it is not relative',
      'team.json:10: tasks[6].touches: "../x" cannot be a pattern: it leaves the project\'s directory',
    ]);
  });

  it("keeps control characters and line ends of a file out of the message", () => {
    const [first, ...others] = problemsOf('{ "name": "crew", "a\\nb\\u001b[2Jc": 1 }');
    expect(first).not.toMatch(/\p{Cc}/u);
    expect(others).toEqual([]);
  });

  it("replaces variables in every text, with defaults and escapes", () => {
    const text = member(
      `"metadata": { "a": ["\${WHO} \${NONE:-no one} \${EMPTY:-x}\${EMPTY} $\${WHO} $HOME \${"] }`,
    );
    const { team } = read(text, { env: { WHO: 'ada"\\', EMPTY: "" } });
    expect(team.members[0]?.metadata).toEqual({ a: [`ada"\\ no one x \${WHO} $HOME \${`] });
  });

  it("reports each missing variable with its line and field", () => {
    const text = `{ "name": "\${A}",\n "members": [{ "name": "ada", "prompt": "\${B} \${c d}", "maxTokens": "\${D}" }] }`;
    expect(problemsOf(text).slice(1)).toEqual([
      `team.json:1: name: the variable A is not set; set it, or write \${A:-default}`,
      `team.json:2: members[0].prompt: the variable B is not set; set it, or write \${B:-default}`,
      `team.json:2: members[0].prompt: \${c d} names no variable; write $\${c d} for the text itself`,
      `team.json:2: members[0].maxTokens: the variable D is not set; set it, or write \${D:-default}`,
    ]);
  });

  it("includes files, whose paths start in their own directory and whose values the including file replaces", () => {
    const { team, sources, cwd } = read({
      "team.json":
        '{ "name": "crew", "include": ["parts/a.json", "parts/b.json"], "model": "opus", "members": [{ "name": "ada", "prompt": "Go." }] }',
      "parts/a.json":
        '{ "include": "b.json", "model": "haiku", "maxTokens": 5, "tasks": [{ "subject": "x", "owner": "ada" }] }',
      "parts/b.json":
        '{ "members": [{ "name": "bob", "prompt": "Go.", "cwd": "." }, { "name": "eve", "prompt": "Go." }], "tasks": [{ "subject": "y", "blockedBy": ["x"] }, { "subject": "z", "blockedBy": [0] }] }',
    });
    expect(sources.map(({ shown }) => shown)).toEqual(["parts/b.json", "parts/a.json", "team.json"]);
    expect([team.model, team.budget]).toEqual(["opus", { maxTokens: 5 }]);
    expect(team.members.map(({ name, cwd: where }) => [name, where])).toEqual([
      ["bob", join(cwd, "parts")],
      ["eve", cwd],
      ["ada", cwd],
    ]);
    expect(team.tasks.map(({ subject }) => subject)).toEqual(["x", "y", "z"]);
    expect(team.at("maxTokens")).toEqual({ file: "parts/a.json", line: 1, field: "maxTokens" });
  });

  it.each([
    [
      "a file that includes itself",
      '"team.json"',
      "team.json:2: include: team.json includes this file again",
    ],
    ["a cycle", '["a.json"]', "a.json:1: include: team.json includes this file again"],
    ["a missing file", '["no.json"]', "no.json:1: there is no such file"],
    ["a directory", '["."]', "there is no such file"],
    [
      "a file outside the project",
      '["../other.json"]',
      "team.json:2: include[0]: ../other.json is outside the project; write its absolute path",
    ],
    [
      "a link out of the project",
      '["link.json"]',
      "team.json:2: include[0]: link.json is outside the project",
    ],
  ])("refuses to include %s", (_what, include, problem) => {
    const cwd = temporaryDirectory();
    mkdirSync(join(cwd, "p", ".git"), { recursive: true });
    writeFileSync(join(cwd, "other.json"), "{}");
    symlinkSync(join(cwd, "other.json"), join(cwd, "p", "link.json"));
    writeFileSync(join(cwd, "p", "a.json"), '{ "include": "team.json" }');
    writeFileSync(join(cwd, "p", "team.json"), `{ "name": "crew",\n "include": ${include} }`);
    expect(() => readTeamFile("team.json", { cwd: join(cwd, "p"), env: {} })).toThrow(problem);
  });

  it("includes an absolute path outside the project", () => {
    const outside = join(temporaryDirectory(), "common.json");
    writeFileSync(outside, '{ "description": "common" }');
    const { team } = read(JSON.stringify({ name: "crew", include: outside }));
    expect(team.description).toBe("common");
  });

  it("replaces the name and the model of the file with the given ones", () => {
    const text = member('"model": "opus"').replace(
      "}] }",
      '}, { "name": "bob", "prompt": "Go.", "cli": "codex", "model": "o9" }] }',
    );
    const { team } = read(text, { name: "other", model: "scripted" });
    expect([team.name, ...team.members.map(({ model }) => model)]).toEqual(["other", "scripted", "o9"]);
  });
});
