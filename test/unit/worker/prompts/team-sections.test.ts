import { describe, expect, test } from "vitest";
import { COMMANDS } from "../../../../src/cli/program.ts";
import {
  type LeadFacts,
  leadSection,
  teammateSection,
  typedSection,
} from "../../../../src/worker/prompts/team-sections.ts";

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

describe("teammateSection (protocol.md section 8)", () => {
  test.each<[string, RegExp]>([
    ["names the teammate and its team", /You are kim, a teammate in the team "crew"/],
    ["names the other members", /which team-lead leads\. The others: team-lead, bo\b/],
    ["asks to use names for them", /Use these names when you write to them or about them/],
    [
      "names the config file and the task directory",
      /\/teams\/crew\/config\.json, its tasks in \/home\/ada\/\.claude\/tasks\/crew/,
    ],
    ["says that messages arrive without polling", /arrive automatically.*Never wait or poll/],
    ["says that plain text reaches no other agent", /Your plain text reaches no other agent.*SendMessage/s],
    ["asks to read the task list after each task", /After each task look at the task list/],
    [
      "asks to claim the unblocked task with the lowest id",
      /unblocked tasks.*the one with the lowest id.*owner "kim".*in_progress/s,
    ],
    ["asks to add tasks for findings", /add tasks for any additional work that you found/],
    ["says how to unassign a task that it cannot finish", /Unassign a task.*status pending, an empty owner/],
    ["says that idle is normal", /idle is normal/],
    [
      "says how to answer a shutdown request",
      /shutdown request with SendMessage of type shutdown_response: approve.*refuse it and say why/s,
    ],
  ])("%s", (_, words) => {
    expect(teammate()).toMatch(words);
  });

  test("sections for teammate and lead contain names but no agent ids", () => {
    expect(teammate()).not.toMatch(/\w@crew/);
    expect(lead()).not.toMatch(/\w@crew/);
  });

  test("explains planning only in plan mode", () => {
    const planning = teammate("/home/ada/.claude/plans/kim.md");
    expect(planning).toMatch(
      /# You are in plan mode.*\/plans\/kim\.md.*ExitPlanMode.*rejection says what to change/s,
    );
    expect(teammate()).not.toContain("plan mode");
  });
});

describe("leadSection (protocol.md section 8)", () => {
  test.each<[string, RegExp]>([
    ["names the lead and its team", /You are team-lead, the lead of the team "crew"/],
    ["names the existing teammates", /Your teammates now: kim\..*do not start a teammate twice/],
    [
      "names the config file and the task directory",
      /config\.json, its tasks in \/home\/ada\/\.claude\/tasks\/crew/,
    ],
    ["recommends three to five teammates", /Three to five teammates/],
    ["recommends tasks that fit one context", /tasks that each fit one agent's context/],
    ["recommends messages over broadcasts", /Prefer a message.*over a broadcast/],
    [
      "recommends a subagent if only the result matters",
      /when only the result matters.*subagent \(Agent without a name\)/,
    ],
    ["says that idle is normal", /idle is normal for a teammate/],
    ["says how to answer a plan", /plan_approval_response\. If you reject the plan, say what to change/],
    [
      "says who answers a permission request",
      /Only the person and their rules answer a teammate's permission request/,
    ],
    ["asks to shut down all teammates before TeamDelete", /shutdown_request, all of them before TeamDelete/],
  ])("%s", (_, words) => {
    expect(lead()).toMatch(words);
  });

  test("without a user, asks to delete the team before the result", () => {
    expect(lead({ run: "alone" })).toMatch(
      /questions get no answer.*Before that turn, shut every teammate down.*TeamDelete/s,
    );
    for (const run of ["goal", "open"] as const) expect(lead({ run })).not.toContain("without a person");
  });

  test("in delegate mode, says that the lead only coordinates, and where the task list is", () => {
    const coordinating = lead({ delegate: true });
    expect(coordinating).toMatch(
      /# You only coordinate.*task list \(TaskList; the files are in \/home\/ada\/\.claude\/tasks\/crew\)/s,
    );
    expect(coordinating).not.toContain("do the work yourself");
    expect(lead()).not.toContain("only coordinate");
  });

  test("in plan mode, says that the lead only reads; without teammates, says so", () => {
    expect(lead({ plans: true })).toContain("# You are in plan mode");
    expect(lead()).not.toContain("# You are in plan mode");
    expect(lead({ others: [] })).toContain("You have no teammates yet.");
  });
});

test("typedSection › names only commands that exist", () => {
  const section = typedSection({ ...TEAM, name: "kim", others: ["team-lead"] }, false);
  const named = [...section.matchAll(/\bteams ((?:task )?[a-z]+)/g)].map(([, name]) => name);
  expect(named).toContain("task claim");
  for (const name of named) expect(Object.keys(COMMANDS)).toContain(name);
});
