import { describe, expect, test } from "vitest";
import { type LeadFacts, leadSection, teammateSection } from "../../../../src/worker/prompts/role-prompts.ts";

const TEAM = {
  team: "crew",
  configFile: "/home/ada/.claude/teams/crew/config.json",
  taskDirectory: "/home/ada/.claude/tasks/crew",
};
const teammate = (planFile?: string) =>
  teammateSection({ ...TEAM, name: "kim", others: ["team-lead", "bo"], planFile });
const lead = (given: Partial<LeadFacts> = {}) =>
  leadSection({
    ...TEAM,
    name: "team-lead",
    others: ["kim"],
    run: "goal",
    delegate: false,
    plans: false,
    ...given,
  });

describe("a teammate is told (protocol.md section 8)", () => {
  test.each<[string, RegExp]>([
    ["who it is", /You are kim, a teammate in the team "crew"/],
    ["who else is there", /which team-lead leads\. The others: team-lead, bo\b/],
    ["to speak of them by name", /Use their names/],
    [
      "where config and tasks are",
      /\/teams\/crew\/config\.json, its tasks in \/home\/ada\/\.claude\/tasks\/crew/,
    ],
    ["that messages come by themselves", /come to you by themselves.*Never wait or poll/],
    ["that its plain text is seen by nobody else", /Your plain text reaches no other agent.*SendMessage/s],
    ["to look at the task list after each task", /After each task look at the task list/],
    ["to take the lowest id", /unblocked tasks.*the one with the lowest id.*owner "kim".*in_progress/s],
    ["to add what it finds", /add tasks for what you found/],
    ["what it does with a task that it cannot finish", /Give back a task.*status pending, an empty owner/],
    ["that idle is normal", /idle is normal/],
    [
      "how a shutdown is answered",
      /shutdown request with SendMessage of type shutdown_response: approve.*refuse it and say why/s,
    ],
  ])("%s", (_, words) => {
    expect(teammate()).toMatch(words);
  });

  test("nobody's id, but names", () => {
    expect(teammate()).not.toMatch(/\w@crew/);
    expect(lead()).not.toMatch(/\w@crew/);
  });

  test("how a plan is made, while it plans and only then", () => {
    const planning = teammate("/home/ada/.claude/plans/kim.md");
    expect(planning).toMatch(
      /# You are in plan mode.*\/plans\/kim\.md.*ExitPlanMode.*rejection says what to change/s,
    );
    expect(teammate()).not.toContain("plan mode");
  });
});

describe("a lead is told (protocol.md section 8)", () => {
  test.each<[string, RegExp]>([
    ["who it is", /You are team-lead, the lead of the team "crew"/],
    ["who is there already", /Your teammates now: kim\..*start nobody twice/],
    ["where config and tasks are", /config\.json, its tasks in \/home\/ada\/\.claude\/tasks\/crew/],
    ["three to five teammates", /Three to five teammates/],
    ["tasks that fit one context", /tasks that each fit one agent's context/],
    ["a message rather than a broadcast", /Prefer a message.*over a broadcast/],
    [
      "a subagent where only the result matters",
      /where only the result matters.*subagent \(Agent without a name\)/,
    ],
    ["that idle is normal", /idle is normal for a teammate/],
    ["how a plan is answered", /plan_approval_response, and say in a rejection what to change/],
    ["who answers a permission", /Only the person and their rules answer a teammate's request/],
    ["shutdown of all before delete", /shutdown_request, all of them before TeamDelete/],
  ])("%s", (_, words) => {
    expect(lead()).toMatch(words);
  });

  test("without a person, that its team ends before its result", () => {
    expect(lead({ run: "alone" })).toMatch(
      /nobody answers questions.*Before that turn, shut every teammate down.*TeamDelete/s,
    );
    for (const run of ["goal", "open"] as const) expect(lead({ run })).not.toContain("without a person");
  });

  test("in delegate mode, that it only coordinates, and where the task list is; not to do the work", () => {
    const coordinating = lead({ delegate: true });
    expect(coordinating).toMatch(
      /# You only coordinate.*task list \(TaskList; the files are in \/home\/ada\/\.claude\/tasks\/crew\)/s,
    );
    expect(coordinating).not.toContain("do the work yourself");
    expect(lead()).not.toContain("only coordinate");
  });

  test("in plan mode, that it only reads; and of nobody where nobody is there yet", () => {
    expect(lead({ plans: true })).toContain("# You are in plan mode");
    expect(lead()).not.toContain("# You are in plan mode");
    expect(lead({ others: [] })).toContain("You have no teammates yet.");
  });
});
