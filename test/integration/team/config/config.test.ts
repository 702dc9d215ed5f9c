import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { listTeams, readTeam, updateTeam } from "../../../../src/team/config/config.ts";
import { createTeamFiles, type NewTeam } from "../../../../src/team/config/create-files.ts";
import { leftoversOf, removeLeftovers, removeTeamFiles } from "../../../../src/team/config/delete-files.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { addMembers } from "../../../../src/team/members/members.ts";
import { writeStatus } from "../../../../src/team/records/write-records.ts";
import { startedIn, teamRef } from "../../../../src/team/ref.ts";
import { openRequest } from "../../../../src/team/requests/requests.ts";
import { changeTask, createTask, listTasks } from "../../../../src/team/tasks/tasks.ts";
import { failingRemovals } from "../../../support/files/failing-removals.ts";
import { failingRenames } from "../../../support/files/failing-renames.ts";
import { statusOf } from "../../../support/team/status-records.ts";
import { testHome, testTeam } from "../../../support/team/test-team.ts";

const NEW: NewTeam = { name: "My Team", leadSessionId: "s", leadCwd: "/work", now: 5 };

test("createTeamFiles › creates the lead and private directories", async () => {
  const before = process.umask(0);
  const ref = await createTeamFiles(testHome(), {
    ...NEW,
    description: "d",
    leadModel: "sonnet",
    leadMode: "plan",
  });
  process.umask(before);
  expect(readTeam(ref)).toMatchObject({
    name: "my-team",
    displayName: "My Team",
    description: "d",
    leadAgentId: "team-lead@my-team",
    members: [
      { name: "team-lead", agentId: "team-lead@my-team", model: "sonnet", mode: "plan", cwd: "/work" },
    ],
    joinedCount: 0,
  });
  for (const directory of [ref.paths.dir, ref.paths.inboxes, ref.paths.tasks]) {
    expect(statSync(directory).mode & 0o777).toBe(0o700);
  }
  expect(statSync(ref.paths.config).mode & 0o777).toBe(0o600);
});

test("createTeamFiles › refuses a second name for the same directory, and changes nothing (S30)", async () => {
  const home = testHome();
  const ref = await createTeamFiles(home, NEW);
  const before = readFileSync(ref.paths.config, "utf8");
  await expect(createTeamFiles(home, { ...NEW, name: "my.team" })).rejects.toMatchObject({
    code: "TEAM_EXISTS",
  });
  expect(readFileSync(ref.paths.config, "utf8")).toBe(before);
  expect(readdirSync(join(home.root, "teams"))).toEqual(["my-team"]);
});

test("createTeamFiles › takes the next free name with unique", async () => {
  const home = testHome();
  const names = [];
  for (let i = 0; i < 3; i += 1) names.push((await createTeamFiles(home, { ...NEW, unique: true })).team);
  expect(names).toEqual(["my-team", "my-team-2", "my-team-3"]);
});

test("createTeamFiles › succeeds once for ten concurrent callers", async () => {
  const home = testHome();
  const made = await Promise.allSettled(Array.from({ length: 10 }, () => createTeamFiles(home, NEW)));
  expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("createTeamFiles › creates the team even if its task list cannot be created; the first task creates that", async () => {
  const restore = failingRenames((_from, to) => to.endsWith("/.lock"));
  const ref = await createTeamFiles(testHome(), NEW);
  restore();
  rmSync(ref.paths.tasks, { recursive: true });
  expect(await createTask(ref, { subject: "s" })).toMatchObject({ id: "1" });
});

test("createTeamFiles › leaves another program's task list of that name alone (S76)", async () => {
  const home = testHome();
  const tasks = join(home.root, "tasks", "my-team");
  mkdirSync(tasks, { recursive: true });
  writeFileSync(join(tasks, "1.json"), "{}");
  await expect(createTeamFiles(home, NEW)).rejects.toMatchObject({ code: "TEAM_EXISTS" });
  expect(readdirSync(tasks)).toEqual(["1.json"]);
});

test("readTeam › suggests the nearest name for a missing team, and creates nothing", async () => {
  const home = testHome();
  await createTeamFiles(home, NEW);
  const missing = teamRef(home, "my-taem");
  expect(() => readTeam(missing)).toThrow(
    expect.objectContaining({ code: "TEAM_NOT_FOUND", hint: "Did you mean my-team?" }),
  );
  expect(() => listTasks(missing)).toThrow(expect.objectContaining({ code: "TEAM_NOT_FOUND" }));
  expect(existsSync(missing.paths.dir) || existsSync(missing.paths.tasks)).toBe(false);
});

test("readTeam and updateTeam › report an invalid config, and leave it alone", async () => {
  const ref = await testTeam();
  writeFileSync(ref.paths.config, '{"name": ');
  expect(() => readTeam(ref)).toThrow(expect.objectContaining({ code: "CORRUPT_FILE" }));
  await expect(updateTeam(ref, (config) => config)).rejects.toMatchObject({ code: "CORRUPT_FILE" });
  expect(readFileSync(ref.paths.config, "utf8")).toBe('{"name": ');
});

test("listTeams › lists our teams, other programs' teams and unreadable ones", async () => {
  const home = testHome();
  await createTeamFiles(home, NEW);
  for (const [name, content] of [
    ["theirs", '{"name":"theirs","members":[]}'],
    ["broken", "{"],
  ] as const) {
    mkdirSync(join(home.root, "teams", name));
    writeFileSync(join(home.root, "teams", name, "config.json"), content);
  }
  mkdirSync(join(home.root, "teams", "empty"));
  expect(listTeams(home)).toMatchObject([
    { team: "broken", ours: false, problem: expect.stringContaining("config.json") },
    { team: "my-team", ours: true, config: { name: "my-team" } },
    { team: "theirs", ours: false, config: { name: "theirs" } },
  ]);
});

test("addMembers › keeps fields that other programs wrote into the config", async () => {
  const ref = await testTeam();
  cpSync("/dev/null", ref.paths.config);
  const theirs = {
    name: "crew",
    xTop: "keep",
    members: [{ name: "team-lead" }, { name: "w", xFuture: { keep: "me" }, tmuxPaneId: "%99" }],
  };
  writeFileSync(ref.paths.config, JSON.stringify(theirs));
  await addMembers(ref, [{ name: "new", cwd: "/" }]);
  expect(JSON.parse(readFileSync(ref.paths.config, "utf8"))).toMatchObject({
    xTop: "keep",
    members: [
      { name: "team-lead" },
      { name: "w", xFuture: { keep: "me" }, tmuxPaneId: "%99" },
      { name: "new" },
    ],
  });
});

test("removeTeamFiles › removes a team completely, and no other team (S44)", async () => {
  const home = testHome();
  const ref = await createTeamFiles(home, NEW);
  const other = await createTeamFiles(home, { ...NEW, name: "other" });
  await createTask(other, { subject: "stays" });
  const before = readdirSync(join(home.root), { recursive: true }).filter((name) =>
    String(name).includes("other"),
  );
  await removeTeamFiles(ref);
  expect(readdirSync(home.root, { recursive: true }).sort()).toEqual(["tasks", "teams", ...before].sort());
});

test("removeTeamFiles › later writes never restore a deleted team (S48)", async () => {
  const ref = await testTeam(["a"]);
  await createTask(ref, { subject: "s" });
  await removeTeamFiles(ref);
  const late = [
    () => sendMessage(ref, { from: "team-lead", to: "a", text: "hi" }),
    () => updateTeam(ref, (config) => ({ ...config, description: "back" })),
    () => addMembers(ref, [{ name: "b", cwd: "/" }]),
    () => createTask(ref, { subject: "late" }),
    async () => writeStatus(ref, "a", statusOf()),
    async () => openRequest(ref, { id: "q", kind: "question", from: "a", summary: "?", payload: {}, at: 1 }),
    () => removeTeamFiles(ref),
  ];
  for (const write of late) await expect(write()).rejects.toMatchObject({ code: "TEAM_NOT_FOUND" });
  expect(readdirSync(ref.home.root, { recursive: true }).sort()).toEqual(["tasks", "teams"]);
});

test("createTask › is refused if the team directory is gone, even if the task list exists (S48)", async () => {
  const ref = await testTeam(["a"]);
  await createTask(ref, { subject: "s" });
  rmSync(ref.paths.dir, { recursive: true });
  await expect(createTask(ref, { subject: "late" })).rejects.toMatchObject({ code: "TEAM_NOT_FOUND" });
  await expect(changeTask(ref, "1", (task) => ({ ...task, subject: "late" }))).rejects.toMatchObject({
    code: "TEAM_NOT_FOUND",
  });
  expect(readdirSync(ref.paths.tasks)).toEqual([".lock", "1.json"]);
});

test("removeTeamFiles › leaves nothing even with writers at work (S48)", async () => {
  const ref = await testTeam(["a"]);
  const writes = Array.from({ length: 20 }, (_, i) =>
    i % 2 === 0
      ? sendMessage(ref, { from: "team-lead", to: "a", text: "hi" })
      : createTask(ref, { subject: "s" }),
  );
  const [, ...ended] = await Promise.allSettled([removeTeamFiles(ref), ...writes]);
  for (const end of ended) {
    if (end.status === "rejected") expect(end.reason).toMatchObject({ code: "TEAM_NOT_FOUND" });
  }
  expect(readdirSync(ref.home.root, { recursive: true }).sort()).toEqual(["tasks", "teams"]);
});

test.skipIf(process.getuid?.() === 0)(
  "removeTeamFiles › names what it could not remove, and how to remove it",
  async () => {
    const ref = await testTeam();
    await createTask(ref, { subject: "s" });
    chmodSync(ref.paths.tasks, 0o500);
    const refused = await removeTeamFiles(ref).catch((error: unknown) => error);
    const [left = ""] = readdirSync(dirname(ref.paths.tasks)).filter((name) => name.includes("deleted"));
    const path = join(dirname(ref.paths.tasks), left);
    expect(refused).toMatchObject({
      code: "PERMISSION_DENIED",
      message: expect.stringContaining(
        `The team crew is deleted, but some of its files could not be removed: ${path}`,
      ),
      hint: expect.stringContaining(`rm -r ${path}`),
    });
    expect(existsSync(ref.paths.dir)).toBe(false);
    chmodSync(path, 0o700);
  },
);

test("removeTeamFiles › says that the team is deleted when its tasks cannot be moved", async () => {
  const ref = await testTeam();
  await createTask(ref, { subject: "s" });
  failingRenames((from) => from === ref.paths.tasks);
  await expect(removeTeamFiles(ref)).rejects.toMatchObject({
    code: "STORAGE_ERROR",
    message: expect.stringContaining("The team crew is deleted, but some of its files could not be removed"),
    details: { left: [expect.stringContaining(".crew.deleted-"), ref.paths.tasks] },
  });
  expect(existsSync(ref.paths.dir)).toBe(false);
});

test.each([
  ["removed", () => failingRemovals((path) => path.includes(".crew.deleted-"))],
  ["moved", () => failingRenames((_from, to) => to.includes(".crew.deleted-"))],
])(
  "createTeamFiles › says that it created nothing when files of a deleted team cannot be %s",
  async (_what, failNow) => {
    const ref = await testTeam();
    // The state after a kill between the two renames of a removal.
    renameSync(ref.paths.dir, join(dirname(ref.paths.dir), ".crew.deleted-1"));
    failNow();
    const refused = await createTeamFiles(ref.home, { ...NEW, name: "crew" }).catch(
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({
      message: expect.stringMatching(
        /^Files of a deleted team crew could not be removed: .*\.crew\.deleted-1.*\. No team was created or renamed\.$/,
      ),
      hint: expect.stringContaining("rm -r "),
    });
    expect(existsSync(ref.paths.dir)).toBe(false);
  },
);

test("removeLeftovers › says what it removed before a team was created under the name", async () => {
  const ref = await testTeam();
  await createTask(ref, { subject: "s" });
  const config = readFileSync(ref.paths.config);
  rmSync(ref.paths.config);
  failingRemovals((path) => {
    // Between the two removals, another process creates the team.
    if (path.includes(".crew.leftover-")) {
      mkdirSync(ref.paths.dir);
      writeFileSync(ref.paths.config, config);
    }
    return false;
  });
  expect(() => removeLeftovers(ref)).toThrowError(
    expect.objectContaining({
      code: "TEAM_EXISTS",
      message: `A team crew was created meanwhile, so the removal stopped. Removed before that: ${ref.paths.dir}.`,
      hint: "See whose team it is: teams status --team crew",
      details: { team: "crew", removed: [ref.paths.dir] },
    }),
  );
  expect(listTasks(ref)).toHaveLength(1);
});

test("removeLeftovers › says what it could not remove, and removes that when it is called again", async () => {
  const ref = await testTeam();
  await createTask(ref, { subject: "s" });
  rmSync(ref.paths.config);
  const lists = dirname(ref.paths.tasks);
  let isRefused = true;
  failingRemovals((path) => isRefused && path.startsWith(join(lists, ".crew.leftover-")));
  const left = expect.stringMatching(/\/tasks\/\.crew\.leftover-[^/]+$/);
  expect(() => removeLeftovers(ref)).toThrowError(
    expect.objectContaining({
      code: "PERMISSION_DENIED",
      message: expect.stringMatching(
        /^Files of the name crew were moved to .*\.crew\.leftover-.*, but could not be removed \(EPERM.*\)\. Removed before that: .*\/teams\/crew\. /,
      ),
      hint: expect.stringContaining("rm -r "),
      details: { team: "crew", left: [left], removed: [ref.paths.dir] },
    }),
  );
  expect(leftoversOf(ref)).toEqual([left]);
  isRefused = false;
  expect(removeLeftovers(ref)).toEqual([left]);
  expect(readdirSync(lists)).toEqual([]);
});

test("createTeamFiles › finishes a removal of leftovers whose process was killed", async () => {
  const ref = await testTeam();
  const paths = [ref.paths.dir, ref.paths.tasks];
  for (const path of paths) renameSync(path, join(dirname(path), ".crew.leftover-1"));
  await createTeamFiles(ref.home, { ...NEW, name: "crew" });
  expect(paths.map((path) => readdirSync(dirname(path)))).toEqual([["crew"], ["crew"]]);
});

test("startedIn › returns the team of exactly this name, even if another has a similar name", () => {
  const home = testHome();
  const addTeam = (name: string): void => {
    mkdirSync(join(home.root, "teams", name), { recursive: true });
    writeFileSync(join(home.root, "teams", name, "config.json"), "{}");
  };
  addTeam("snakegame");
  expect(startedIn(home, "SnakeGame").team).toBe("snakegame");
  addTeam("SnakeGame");
  expect(["SnakeGame", "snakegame"].map((name) => startedIn(home, name).team)).toEqual([
    "SnakeGame",
    "snakegame",
  ]);
});
