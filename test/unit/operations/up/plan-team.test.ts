import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { DeclaredMember, DeclaredTeam } from "../../../../src/operations/up/declared-team.ts";
import {
  differences,
  type ExistingTeam,
  isEmptyPlan,
  planTeam,
} from "../../../../src/operations/up/plan-team.ts";
import { addSecrets } from "../../../../src/os/redact.ts";
import type { TeamConfig, TeamMember } from "../../../../src/schema/config.ts";
import { worktreeOf } from "../../../../src/schema/member-metadata.ts";
import type { ProvenTask } from "../../../../src/team/tasks/task-proof.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

const at = () => ({ file: "team.json", line: 1, field: "" });

function declared(
  members: readonly Partial<DeclaredMember>[] = [],
  more: Partial<DeclaredTeam> = {},
): DeclaredTeam {
  return {
    ...{ file: "team.json", directory: "/p", name: "crew", budget: {}, tasks: [], at },
    members: members.map((one) => ({ name: "ada", prompt: "Go.", budget: {}, cwd: "/p", at, ...one })),
    ...more,
  };
}

function existing(members: readonly Partial<TeamMember>[], more: Partial<ExistingTeam> = {}): ExistingTeam {
  const member = (one: Partial<TeamMember>): TeamMember => ({
    ...{ name: "ada", agentId: "", joinedAt: 0, tmuxPaneId: "", cwd: "/p", subscriptions: [], ...one },
  });
  const config: TeamConfig = {
    ...{ name: "crew", createdAt: 0, leadAgentId: "", leadSessionId: "" },
    members: [{ name: "team-lead" }, ...members].map(member),
  };
  const others = { tasks: [], unreadable: [], isStopped: () => false, hasLead: false, leadLives: false };
  return { config, ...others, ...more };
}

function task(id: string, more: Partial<ProvenTask>): ProvenTask {
  return {
    ...{ id, subject: "a", description: "", status: "pending", blocks: [], blockedBy: [] },
    ...{ verify: null, reviewer: null, touches: [], said: false, shown: "none", verifyRun: null },
    ...more,
  };
}

describe("planTeam", () => {
  it("creates everything if there is no team", () => {
    const plan = planTeam(declared([{}], { lead: { at } }), undefined);
    expect(plan).toMatchObject({ isNew: true, members: [{ name: "ada" }], startsLead: true, left: [] });
  });

  it("is empty if the team matches its declaration, ignoring the case of names", () => {
    const plan = planTeam(declared([{ name: "ADA", permissionMode: "dontAsk", budget: { maxTokens: 5 } }]), {
      ...existing([{ mode: "dontAsk", metadata: { _budget: { maxTokens: 5, maxCostUsd: 1 } } }]),
    });
    expect(isEmptyPlan(plan)).toBe(true);
  });

  it("changes modes and budgets that differ, of members and of the team", () => {
    const plan = planTeam(
      declared([{ permissionMode: "acceptEdits", budget: { maxTokens: 9, maxCostUsd: 1 } }], {
        permissionMode: "dontAsk",
        budget: { maxTokens: 100 },
      }),
      existing([{ mode: "default", metadata: { _budget: { maxTokens: 5, maxCostUsd: 1 } } }]),
    );
    expect(plan.modes).toEqual([
      { name: "team-lead", before: undefined, mode: "dontAsk" },
      { name: "ada", before: "default", mode: "acceptEdits" },
    ]);
    expect(plan.budgets).toEqual([
      { name: undefined, before: {}, limits: { maxTokens: 100 } },
      { name: "ada", before: { maxTokens: 5, maxCostUsd: 1 }, limits: { maxTokens: 9 } },
    ]);
  });

  it.each([
    [
      "plans first",
      { plan: true, permissionMode: "acceptEdits" },
      { mode: "acceptEdits", planModeRequired: true },
    ],
    [
      "has had its plan approved",
      { permissionMode: "plan" },
      { mode: "default", metadata: { _mode: "default" } },
    ],
    ["names no mode", {}, { mode: "acceptEdits" }],
  ] as const)("leaves the mode of a member that %s", (_what, member, found) => {
    expect(planTeam(declared([member]), existing([found])).modes).toEqual([]);
  });

  it("leaves the mode of a lead that delegates", () => {
    const team = existing([]);
    const config = {
      ...team.config,
      members: team.config.members.map((one) => ({ ...one, mode: "delegate" })),
    };
    expect(planTeam(declared([], { permissionMode: "acceptEdits" }), { ...team, config }).modes).toEqual([]);
  });

  it("restarts only the stopped members that the file declares", () => {
    const plan = planTeam(declared([{}]), existing([{}, { name: "bob" }], { isStopped: () => true }));
    expect(plan.resumed).toEqual(["ada"]);
  });

  it("adds tasks by their subject, and lists members and tasks that are not in the file", () => {
    const tasks = [
      task("1", { subject: "a", status: "completed" }),
      task("2", { subject: "x" }),
      task("3", { subject: "y", status: "completed" }),
    ];
    const wanted = ["a", "b"].map((subject) => ({ subject, blockedBy: [], at }));
    const plan = planTeam(
      declared([], { tasks: wanted }),
      existing([{ name: "bob" }], { tasks, unreadable: ["4"] }),
    );
    expect(plan.tasks).toMatchObject([{ subject: "b" }]);
    expect(plan.left).toEqual([
      "Members that are not in team.json, so left as they are: bob.",
      "Open tasks that are not in team.json, so left as they are: #2.",
      "Tasks that cannot be read count as missing: #4. To repair them first: teams doctor --fix",
    ]);
  });

  it("changes the command, the reviewer and the files of open tasks that the file names and that differ", () => {
    const proof = { verify: "npm test", reviewer: "ada", touches: ["src/**"] };
    const tasks = [
      task("1", { subject: "same", ...proof }),
      task("2", { subject: "other", ...proof }),
      task("3", { subject: "none" }),
      task("4", { subject: "done", status: "completed" }),
      task("5", { subject: "unnamed", ...proof }),
    ];
    const other = { verify: "npm t", reviewer: "team-lead", touches: [] };
    const wanted = [
      { subject: "same", ...proof, reviewer: "ADA" },
      { subject: "other", ...other },
      { subject: "none", ...proof },
      { subject: "done", ...proof },
      { subject: "unnamed" },
    ].map((one) => ({ ...one, blockedBy: [], at }));
    const plan = planTeam(declared([{}], { tasks: wanted }), existing([{}], { tasks }));
    expect(plan.taskChanges).toEqual([
      { id: "2", subject: "other", before: proof, fields: other },
      { id: "3", subject: "none", before: { touches: [] }, fields: proof },
    ]);
    expect(isEmptyPlan(plan)).toBe(false);
  });

  it("lists other differences of open tasks, and does not change them", () => {
    const text = { description: "as before", blockedBy: ["1"] };
    const tasks = [
      task("1", { subject: "a", ...text, blockedBy: [], owner: "ada" }),
      task("2", { subject: "b", ...text, owner: "bob" }),
      task("3", { subject: "c", ...text, status: "in_progress", owner: "bob" }),
      task("4", { subject: "d", ...text, status: "completed" }),
      task("5", { subject: "e", ...text }),
    ];
    const wanted = [
      { subject: "a", description: "as before", owner: "Ada", blockedBy: [] },
      { subject: "b", description: "new", owner: "ada", blockedBy: ["a"] },
      { subject: "c", owner: "ada", blockedBy: ["a", "b"] },
      { subject: "d", description: "new", blockedBy: [] },
      { subject: "e", blockedBy: ["a"] },
    ].map((one) => ({ ...one, at }));
    expect(planTeam(declared([], { tasks: wanted }), existing([], { tasks })).left).toEqual([
      "Task #2 keeps its description and owner, which differ from team.json. To change them: teams task update 2",
      "Task #3 lacks blockers that team.json declares. To add them: teams task dep 3",
    ]);
  });

  it("compares a command with its secrets redacted, as files contain it", () => {
    addSecrets({ UP_TEST_TOKEN: "s3cret-of-the-ci" });
    const wanted = [{ subject: "a", verify: "check s3cret-of-the-ci", blockedBy: [], at }];
    const tasks = [task("1", { verify: "check [secret]" })];
    expect(planTeam(declared([], { tasks: wanted }), existing([], { tasks })).taskChanges).toEqual([]);
  });

  it.each([
    [{ hasLead: false, leadLives: false }, true, []],
    [{ hasLead: true, leadLives: true }, false, []],
    [
      { hasLead: true, leadLives: false },
      false,
      ["The team's lead has ended. To resume it: teams run --resume --team crew"],
    ],
  ])("starts a lead once: %j", (lead, startsLead, left) => {
    expect(planTeam(declared([], { lead: { at } }), existing([], lead))).toMatchObject({ startsLead, left });
  });
});

describe("differences", () => {
  /** Returns the fields in which a declared member differs from the member of the team. */
  function fieldsOf(declares: Partial<DeclaredMember>, found: Partial<TeamMember>): string[] {
    const one = declared([declares]).members[0];
    if (one === undefined) throw new Error("There is no member.");
    const { name, prompt, cwd, metadata, plan } = one;
    const draft = { name, prompt, cwd, ...(metadata && { metadata }), planModeRequired: plan === true };
    const { config } = existing([{ prompt: "Go.", ...found }]);
    const texts = differences(config, [{ declared: one, input: { name }, draft }]);
    return texts.flatMap((text) => /other values \((.*?)\)/.exec(text)?.[1]?.split(", ") ?? []);
  }
  const inWorktree = (branch: string, madeBranch: boolean, cwd = "/w/ada"): Partial<TeamMember> => ({
    cwd,
    worktreePath: "/w/ada",
    metadata: { _worktree: { path: "/w/ada", branch, base: "c0ffee", madeBranch } },
  });

  it.each<[string, Partial<DeclaredMember>, Partial<TeamMember>]>([
    ["nothing else", {}, { metadata: { ticket: 1 } }],
    ["its plan", { plan: true }, { planModeRequired: true }],
    ["its facts", { metadata: { ticket: 42 } }, { metadata: { ticket: 42, more: 1, _cli: "codex" } }],
    ["its own worktree", { worktree: true }, inWorktree("teams/crew/ada", true)],
    ["the worktree of its branch", { worktree: "fix" }, inWorktree("fix", false)],
    ["no worktree", { worktree: false }, {}],
  ])("finds no difference in a member with %s", (_what, declares, found) => {
    expect(fieldsOf(declares, found)).toEqual([]);
  });

  it.each<[string, Partial<DeclaredMember>, Partial<TeamMember>]>([
    ["cwd", { cwd: "/p/src" }, {}],
    ["cwd", {}, { cwd: "/elsewhere" }],
    ["cwd", { worktree: true }, inWorktree("teams/crew/ada", true, "/w/ada/src")],
    ["worktree", { worktree: true }, {}],
    ["worktree", { worktree: false }, inWorktree("teams/crew/ada", true)],
    ["worktree", { worktree: "fix" }, inWorktree("teams/crew/ada", true)],
    ["plan", { plan: true }, {}],
    ["plan", { plan: false }, { planModeRequired: true }],
    ["metadata", { metadata: { ticket: 42 } }, { metadata: { ticket: 41 } }],
    ["metadata", { metadata: { ticket: 42 } }, {}],
  ])("finds a different %s: %j", (field, declares, found) => {
    expect(fieldsOf(declares, found)).toEqual([field]);
  });

  /** Creates two repositories, `a` and `b`, and a link `to-a`. @returns the directory that contains them */
  function repositories(): string {
    const top = temporaryDirectory();
    for (const name of ["a", "b"]) mkdirSync(join(top, name, ".git"), { recursive: true });
    symlinkSync("a", join(top, "to-a"));
    return top;
  }

  it("compares directories with links resolved", () => {
    const top = repositories();
    const [cwd, linked] = [join(top, "a"), join(top, "to-a")];
    expect(fieldsOf({ cwd }, { cwd: linked })).toEqual([]);
    expect(fieldsOf({ cwd: linked }, { cwd })).toEqual([]);
    expect(fieldsOf({ cwd: linked }, { cwd: join(top, "b") })).toEqual(["cwd"]);
  });

  it("finds a different cwd if the worktree of a member is of another repository", () => {
    const top = repositories();
    const found = inWorktree("teams/crew/ada", true);
    const worktree = { ...worktreeOf(found), repository: join(top, "a") };
    const ofA = { ...found, metadata: { _worktree: worktree } };
    expect(fieldsOf({ worktree: true, cwd: join(top, "to-a") }, ofA)).toEqual([]);
    expect(fieldsOf({ worktree: true, cwd: join(top, "b") }, ofA)).toEqual(["cwd"]);
  });
});
