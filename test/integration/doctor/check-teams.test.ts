import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkTeams } from "../../../src/doctor/check-teams.ts";
import { checkLeftovers, checkTeamDirectories } from "../../../src/doctor/deleted-teams.ts";
import type { Finding } from "../../../src/doctor/finding.ts";
import { strayFileProblems } from "../../../src/doctor/orphaned-records.ts";
import { ownerRecord } from "../../../src/store/owner-lock.ts";
import { listTeams, readTeam, updateTeam } from "../../../src/team/config/config.ts";
import { createTeamFiles } from "../../../src/team/config/create-files.ts";
import { history } from "../../../src/team/mailbox/history.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { addMembers } from "../../../src/team/members/members.ts";
import { writeStatus } from "../../../src/team/records/write-records.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { answerRequest, listRequests, openRequest } from "../../../src/team/requests/requests.ts";
import { linkTasks } from "../../../src/team/tasks/dependencies.ts";
import { changeTask, createTask, deleteTask, getTask, listTasks } from "../../../src/team/tasks/tasks.ts";
import { deadProcess, statusOf } from "../../support/team/status-records.ts";
import { testTeam } from "../../support/team/test-team.ts";

const check = (ref: TeamRef): Promise<Finding[]> => checkTeams(ref.home, { fix: false });
const fix = (ref: TeamRef): Promise<Finding[]> => checkTeams(ref.home, { fix: true });
const WHOLE = [{ name: "teams", level: "ok", text: "all files are in order: crew" }];

/** Returns the quarantined originals of a file. */
function originalsOf(path: string): string[] {
  const directory = join(path, "..");
  const names = readdirSync(directory).filter((name) => join(directory, name).startsWith(`${path}.broken-`));
  return names.map((name) => readFileSync(join(directory, name), "utf8"));
}

/** Returns every file with its bytes, and every directory, below a path. */
function bytesIn(path: string): Record<string, string> {
  const names = (readdirSync(path, { recursive: true }) as string[]).sort();
  return Object.fromEntries(
    names.map((name) => {
      const entry = statSync(join(path, name), { throwIfNoEntry: false });
      return [name, `${entry?.mode} ${entry?.isFile() ? readFileSync(join(path, name), "utf8") : ""}`];
    }),
  );
}

function age(path: string, hours: number): void {
  const at = new Date(Date.now() - hours * 3_600_000);
  utimesSync(path, at, at);
}

test("checkTeams › reports intact teams as in order, and changes nothing", async () => {
  const ref = await testTeam(["dev"]);
  await createTask(ref, { subject: "a" });
  await sendMessage(ref, { from: "dev", to: "team-lead", text: "hi" });
  writeStatus(ref, "dev", statusOf());
  const before = bytesIn(ref.home.root);
  expect(await check(ref)).toEqual(WHOLE);
  expect(await fix(ref)).toEqual(WHOLE);
  expect(bytesIn(ref.home.root)).toEqual(before);
});

describe("checkTeams with a broken config", () => {
  test("repairs it from the readable part, and keeps the original", async () => {
    const ref = await testTeam(["dev", "rev"]);
    const whole = readTeam(ref);
    const { members, ...rest } = whole;
    const text = JSON.stringify({ ...rest, theirs: 1, members }, undefined, 2).slice(0, -20);
    writeFileSync(ref.paths.config, text);
    rmSync(ref.paths.lastConfig);
    const [found] = await check(ref);
    expect(found).toMatchObject({
      name: "team crew",
      level: "fail",
      remedy: "Repair it: teams doctor --fix",
    });
    expect(readFileSync(ref.paths.config, "utf8")).toBe(text);
    const [done] = await fix(ref);
    expect(done).toMatchObject({
      level: "ok",
      text: expect.stringContaining(
        "repaired config.json from its readable parts; its members are team-lead",
      ),
    });
    expect(readTeam(ref)).toMatchObject({ schemaVersion: whole.schemaVersion, theirs: 1 });
    expect(readTeam(ref).members.slice(0, 2)).toEqual(whole.members.slice(0, 2));
    expect(originalsOf(ref.paths.config)).toEqual([text]);
    expect(await check(ref)).toEqual(WHOLE);
  });

  test.each(["", '{"schemaVersion":"1.1.0","na', "not JSON"])(
    "restores its last copy in place of %j",
    async (text) => {
      const ref = await testTeam(["dev"]);
      await updateTeam(ref, (config) => ({ ...config, description: "the newest" }));
      const whole = readTeam(ref);
      writeFileSync(ref.paths.config, text);
      const [done] = await fix(ref);
      const restored = "repaired config.json from config.json.last; its members are team-lead, dev";
      expect(done).toMatchObject({ level: "ok", text: expect.stringContaining(restored) });
      expect(readTeam(ref)).toEqual(whole);
      expect(originalsOf(ref.paths.config)).toEqual([text]);
      expect(await check(ref)).toEqual(WHOLE);
    },
  );

  test("adds to the last copy the parts that only the broken text has", async () => {
    const ref = await testTeam(["dev"]);
    const { members, ...rest } = readTeam(ref);
    const theirs = { ...members[1], name: "theirs", agentId: "theirs@crew" };
    const text = JSON.stringify({ theirs: 1, members: [...members, theirs], ...rest, description: "old" });
    writeFileSync(ref.paths.config, text.slice(0, -2));
    await fix(ref);
    expect(readTeam(ref)).toEqual({ ...rest, theirs: 1, members: [...members, theirs] });
  });

  test("does not restore a copy that a newer version wrote", async () => {
    const ref = await testTeam();
    writeFileSync(ref.paths.lastConfig, JSON.stringify({ ...readTeam(ref), schemaVersion: "2.0.0" }));
    writeFileSync(ref.paths.config, "");
    expect(await fix(ref)).toMatchObject([{ level: "fail", text: expect.stringContaining("no part of it") }]);
  });

  test("repairs it only by name if its owner is unclear (S76)", async () => {
    const ref = await testTeam(["dev"]);
    rmSync(ref.paths.lastConfig);
    const text = JSON.stringify({ members: readTeam(ref).members }).slice(0, -2);
    writeFileSync(ref.paths.config, text);
    expect(await fix(ref)).toMatchObject([
      { level: "fail", remedy: "Repair it: teams doctor --fix --force crew" },
    ]);
    expect(readFileSync(ref.paths.config, "utf8")).toBe(text);
    await checkTeams(ref.home, { fix: true, only: "crew" });
    expect(readTeam(ref).members.map(({ name }) => name)).toEqual(["team-lead", "dev"]);
  });

  test("recognizes its own team without a version by an agent's records, and restores the version", async () => {
    const ref = await testTeam(["dev"]);
    rmSync(ref.paths.lastConfig);
    writeStatus(ref, "dev", statusOf());
    writeFileSync(ref.paths.config, JSON.stringify({ members: readTeam(ref).members }).slice(0, -2));
    expect(listTeams(ref.home)).toMatchObject([
      { team: "crew", ours: true, problem: expect.stringContaining("it is not JSON") },
    ]);
    expect(await fix(ref)).toMatchObject([{ level: "ok" }]);
    expect(listTeams(ref.home)).toMatchObject([{ team: "crew", ours: true, config: expect.anything() }]);
  });

  test("listTeams recognizes its own team even if the config is truncated after its first lines", async () => {
    const ref = await testTeam(["dev"]);
    const text = readFileSync(ref.paths.config, "utf8");
    writeFileSync(ref.paths.config, text.slice(0, text.indexOf('"members"')));
    expect(listTeams(ref.home)).toMatchObject([{ team: "crew", ours: true }]);
  });

  test("keeps an unreadable config until the team is named", async () => {
    const ref = await testTeam();
    rmSync(ref.paths.lastConfig);
    writeFileSync(ref.paths.config, '{"schemaVersion":"1.1.0","na');
    expect(await fix(ref)).toMatchObject([
      { level: "fail", remedy: expect.stringContaining("teams doctor crew --fix --force") },
    ]);
    expect(readFileSync(ref.paths.config, "utf8")).toBe('{"schemaVersion":"1.1.0","na');
    const [done] = await checkTeams(ref.home, { fix: true, only: "crew" });
    expect(done).toMatchObject({ level: "ok", text: expect.stringMatching(/^moved to .*teams import/) });
    expect(existsSync(ref.paths.config)).toBe(false);
    expect(originalsOf(ref.paths.config)).toEqual(['{"schemaVersion":"1.1.0","na']);
  });

  test("leaves a config of a newer version alone", async () => {
    const ref = await testTeam();
    const text = '{"schemaVersion":"2.0.0","crew":{}}';
    writeFileSync(ref.paths.config, text);
    expect(await fix(ref)).toMatchObject([{ level: "warn", text: expect.stringContaining("newer version") }]);
    expect(readFileSync(ref.paths.config, "utf8")).toBe(text);
  });
});

test("checkTeams › restores the team name that is missing or wrong in a config", async () => {
  const ref = await testTeam();
  for (const name of ["../../evil", "other"]) {
    await updateTeam(ref, (config) => ({ ...config, name }));
    expect(await check(ref)).toMatchObject([{ level: "fail", text: expect.stringContaining(name) }]);
    await fix(ref);
    expect(readTeam(ref).name).toBe("crew");
  }
  await updateTeam(ref, (config) => ({ ...config, name: "Crew" }));
  expect(await check(ref)).toEqual(WHOLE);
});

describe("checkTeams with broken tasks", () => {
  test("repairs or quarantines them, and never uses their numbers again", async () => {
    const ref = await testTeam(["dev"]);
    for (const subject of ["one", "two", "three"]) await createTask(ref, { subject });
    await linkTasks(ref, { id: "1", addBlockedBy: ["3"] });
    const cut = JSON.stringify({
      id: "2",
      subject: "two",
      metadata: { kept: 1 },
      description: "half of",
    }).slice(0, -3);
    writeFileSync(ref.paths.task("2"), cut);
    writeFileSync(ref.paths.task("3"), '{"id');
    expect((await check(ref)).map(({ level }) => level)).toEqual(["fail", "fail"]);
    const texts = (await fix(ref)).map(({ text }) => text);
    expect(texts).toMatchObject([
      expect.stringContaining("repaired task #2"),
      expect.stringContaining("moved task #3 to"),
      expect.stringContaining("#1 named #3, which does not exist"),
    ]);
    expect(getTask(ref, "2")).toMatchObject({
      subject: "two",
      status: "pending",
      description: "",
      metadata: { kept: 1 },
    });
    expect(getTask(ref, "1").blockedBy).toEqual([]);
    expect(originalsOf(ref.paths.task("2"))).toEqual([cut]);
    expect(originalsOf(ref.paths.task("3"))).toEqual(['{"id']);
    expect((await createTask(ref, { subject: "next" })).id).toBe("4");
    expect(await check(ref)).toEqual(WHOLE);
  });

  test("corrects a task's number to match its file name", async () => {
    const ref = await testTeam();
    for (const subject of ["one", "two"]) await createTask(ref, { subject });
    writeFileSync(ref.paths.task("2"), readFileSync(ref.paths.task("1"), "utf8"));
    await fix(ref);
    expect(listTasks(ref).map(({ id }) => id)).toEqual(["1", "2"]);
  });

  test("completes one-sided links, and removes dangling ones", async () => {
    const ref = await testTeam();
    for (const subject of ["one", "two"]) await createTask(ref, { subject });
    await changeTask(ref, "1", (task) => ({ ...task, blocks: ["2"], blockedBy: ["9"] }));
    expect(await check(ref)).toMatchObject([
      { level: "warn", text: expect.stringContaining("inconsistent") },
    ]);
    await fix(ref);
    expect(listTasks(ref)).toMatchObject([
      { blocks: ["2"], blockedBy: [] },
      { blocks: [], blockedBy: ["1"] },
    ]);
  });

  test("reports a dependency cycle, and how to break it", async () => {
    const ref = await testTeam();
    for (const subject of ["one", "two", "three", "four"]) await createTask(ref, { subject });
    for (const [id, blocker] of [
      ["1", "2"],
      ["2", "3"],
      ["3", "2"],
    ] as const) {
      await changeTask(ref, id, (task) => ({ ...task, blockedBy: [...task.blockedBy, blocker] }));
      await changeTask(ref, blocker, (task) => ({ ...task, blocks: [...task.blocks, id] }));
    }
    expect(await fix(ref)).toMatchObject([
      {
        level: "warn",
        text: expect.stringContaining("#2 waits for #3, #3 for #2"),
        remedy: expect.stringContaining("teams task rm 2"),
      },
    ]);
  });

  test("reports a high-water mark that is too high; new tasks ignore it", async () => {
    const ref = await testTeam();
    writeFileSync(ref.paths.highWaterMark, "99999999999999999999", { mode: 0o600 });
    expect((await check(ref)).map(({ level }) => level)).toEqual(["warn"]);
    expect((await createTask(ref, { subject: "next" })).id).toBe("1");
    expect(listTasks(ref)).toHaveLength(1);
    await fix(ref);
    expect(await check(ref)).toEqual(WHOLE);
  });

  test("raises an unreadable high-water mark to the highest known number", async () => {
    const ref = await testTeam();
    for (const subject of ["one", "two"]) await createTask(ref, { subject });
    await deleteTask(ref, "2");
    writeFileSync(ref.paths.highWaterMark, "\0\0");
    writeFileSync(`${ref.paths.task("7")}.broken-1`, "{", { mode: 0o600 });
    expect(await check(ref)).toMatchObject([{ level: "warn", text: expect.stringContaining("#7") }]);
    await fix(ref);
    expect((await createTask(ref, { subject: "next" })).id).toBe("8");
  });
});

describe("checkTeams with broken messages", () => {
  test("keeps the readable entries of an inbox, and quarantines bad ones", async () => {
    const ref = await testTeam(["dev", "rev"]);
    for (const to of ["dev", "rev"]) await sendMessage(ref, { from: "team-lead", to, text: `for ${to}` });
    const path = ref.paths.inbox("dev");
    writeFileSync(path, readFileSync(path, "utf8").replace(/\]$/, ',{"from":"x'));
    writeFileSync(ref.paths.inbox("rev"), readFileSync(ref.paths.inbox("rev"), "utf8").replace(/\]$/, ",7]"));
    expect((await check(ref)).map(({ level }) => level)).toEqual(["fail", "fail"]);
    expect((await fix(ref)).map(({ level }) => level)).toEqual(["ok", "ok"]);
    for (const name of ["dev", "rev"]) {
      expect(await history(ref, name)).toMatchObject([{ text: `for ${name}` }]);
    }
    expect(originalsOf(path)).toHaveLength(1);
    // The moved file is named until a person has removed it.
    const moved = join(ref.paths.inboxes, "rev.bad.jsonl");
    expect(await check(ref)).toMatchObject([{ level: "warn", text: expect.stringContaining(moved) }]);
    rmSync(moved);
    expect(await check(ref)).toEqual(WHOLE);
  });

  test("quarantines a stray inbox, unless a member lost from the config may need it", async () => {
    const ref = await testTeam(["dev"]);
    const strays = ["gh%20st", "unread", "ran", "team-lead"].map((stem) =>
      join(ref.paths.inboxes, `${stem}.json`),
    );
    const texts = strays.map((path) =>
      JSON.stringify([{ from: "a", text: "hi", timestamp: "t", read: !path.includes("unread") }]),
    );
    for (const [i, path] of strays.entries()) writeFileSync(path, texts[i] ?? "", { mode: 0o600 });
    writeStatus(ref, "ran", statusOf({ process: deadProcess() }));
    const { members, ...config } = readTeam(ref);
    const withoutLead = { ...config, members: members.filter(({ name }) => name === "dev") };
    writeFileSync(ref.paths.config, JSON.stringify(withoutLead));
    await fix(ref);
    expect(strays.map((path) => existsSync(path))).toEqual([false, true, true, true]);
    expect(originalsOf(strays[0] as string)).toEqual([texts[0]]);
    const left = (await check(ref)).map(({ level, text, remedy }) => `${level} ${text} → ${remedy}`);
    expect(left).toHaveLength(4);
    expect(left).toContainEqual(
      expect.stringMatching(/^fail config.json does not list the lead \(team-lead\) → Restore/),
    );
    expect(left).toContainEqual(expect.stringMatching(/^warn .*unread.json.*; 1 of its messages.*→ .*rm/));
  });

  test("removes nothing in the run that repairs the config, and names members lost from it", async () => {
    const ref = await testTeam(["dev", "ada"]);
    const { status } = ref.paths.agent("ada");
    writeStatus(ref, "ada", statusOf());
    const stray = join(ref.paths.inboxes, "ghost.json");
    writeFileSync(stray, "[]", { mode: 0o600 });
    const text = readFileSync(ref.paths.config, "utf8");
    writeFileSync(ref.paths.config, text.slice(0, text.indexOf('"ada"') - 20));
    rmSync(ref.paths.lastConfig);
    const found = await fix(ref);
    expect(existsSync(stray)).toBe(true);
    expect(existsSync(ref.paths.inbox("ada")) || existsSync(status)).toBe(true);
    expect(found).toContainEqual(
      expect.objectContaining({
        level: "fail",
        text: `ada may still run as process ${process.pid}, but config.json does not list it`,
      }),
    );
  });

  test("quarantines an unreadable journal", async () => {
    const ref = await testTeam(["dev"]);
    writeFileSync(ref.paths.journal, "garbage\nmore\n", { mode: 0o600 });
    expect(await check(ref)).toMatchObject([
      { level: "fail", text: expect.stringContaining(ref.paths.journal) },
    ]);
    await fix(ref);
    expect(originalsOf(ref.paths.journal)).toEqual(["garbage\nmore\n"]);
    expect(await check(ref)).toEqual(WHOLE);
  });

  test("closes the journal's torn last line, and changes nothing else", async () => {
    const ref = await testTeam(["dev"]);
    await sendMessage(ref, { from: "team-lead", to: "dev", text: "hi" });
    appendFileSync(ref.paths.journal, '{"at":1,"id"');
    const torn = readFileSync(ref.paths.journal, "utf8");
    expect(await check(ref)).toMatchObject([
      { level: "warn", text: expect.stringContaining("is incomplete") },
    ]);
    await fix(ref);
    expect(readFileSync(ref.paths.journal, "utf8")).toBe(`${torn}\n`);
  });
});

test("checkTeams › never follows a link when it repairs", async () => {
  const ref = await testTeam(["dev"]);
  const secret = join(ref.home.root, "secret");
  writeFileSync(secret, "root:x:0:0");
  for (const path of [ref.paths.task("1"), ref.paths.inbox("dev")]) {
    rmSync(path, { force: true });
    symlinkSync(secret, path);
    const found = await fix(ref);
    expect(found).toContainEqual(
      expect.objectContaining({
        level: "fail",
        text: expect.stringContaining("is a link, which no repair follows"),
      }),
    );
    expect(originalsOf(path)).toEqual([]);
  }
  expect(readFileSync(secret, "utf8")).toBe("root:x:0:0");
});

test("checkTeams › does not follow a link to a directory", async () => {
  const ref = await testTeam(["dev"]);
  const outside = join(ref.home.root, "outside");
  const shared = join(outside, "status.json");
  mkdirSync(outside);
  writeFileSync(shared, "");
  chmodSync(outside, 0o755);
  chmodSync(shared, 0o644);
  symlinkSync(outside, join(ref.paths.dir, "linked"));
  symlinkSync(ref.paths.dir, join(ref.paths.dir, "loop"));
  mkdirSync(join(ref.paths.dir, "run"), { recursive: true, mode: 0o700 });
  symlinkSync(outside, join(ref.paths.dir, "run/other"));
  expect(await fix(ref)).toEqual(WHOLE);
  expect([outside, shared].map((path) => statSync(path).mode & 0o777)).toEqual([0o755, 0o644]);
});

test("checkTeams › quarantines unreadable requests and records, and removes orphaned answers", async () => {
  const ref = await testTeam(["dev"]);
  const request = { id: "q", kind: "question", from: "dev", summary: "", payload: {}, at: 1 } as const;
  openRequest(ref, request);
  await answerRequest(ref, "q", { approve: true, by: "x", at: 2 });
  openRequest(ref, { ...request, id: "open" });
  writeStatus(ref, "dev", statusOf());
  const { status } = ref.paths.agent("dev");
  writeFileSync(status, "{");
  writeFileSync(join(ref.paths.requests, "bad.json"), "{", { mode: 0o600 });
  writeFileSync(join(ref.paths.requests, "gone.answer"), '{"approve":true,"at":1}', { mode: 0o600 });
  expect((await check(ref)).map(({ level }) => level)).toEqual(["warn", "warn", "warn"]);
  await fix(ref);
  expect(originalsOf(status)).toEqual(["{"]);
  expect(originalsOf(join(ref.paths.requests, "bad.json"))).toEqual(["{"]);
  expect(listRequests(ref).map(({ id }) => id)).toEqual(["open"]);
  expect(existsSync(ref.paths.request("q").answer)).toBe(true);
  expect(existsSync(join(ref.paths.requests, "gone.answer"))).toBe(false);
  expect(await check(ref)).toEqual(WHOLE);
});

describe("checkTeams after a crash", () => {
  /** Returns an owner record of a process of this machine that has ended. */
  const deadRecord = (): string => ownerRecord("x").replace(/^\d+/, String(spawnSync("true").pid));

  test("removes locks, their records and half-written files of dead processes, not of live ones", async () => {
    const ref = await testTeam(["dev"]);
    await createTask(ref, { subject: "a" });
    const [config, task] = [ref.paths.config, ref.paths.task("1")];
    const inbox = ref.paths.inbox("team-lead");
    symlinkSync(deadRecord(), `${inbox}.q`);
    symlinkSync(deadRecord(), `${config}.q~`);
    mkdirSync(`${task}.lock`);
    age(`${task}.lock`, 1);
    const half = join(ref.paths.dir, `.config.json.${spawnSync("true").pid}.1.tmp`);
    const ours = join(ref.paths.dir, `.config.json.${process.pid}.1.tmp`);
    for (const path of [half, ours]) writeFileSync(path, "{", { mode: 0o600 });
    age(half, 0.1);
    symlinkSync(ownerRecord("y"), `${ref.paths.inbox("dev")}.q`);
    expect(await check(ref)).toMatchObject([
      { level: "warn", text: `ended processes left locks on ${config}, ${inbox}, ${task}` },
      { level: "warn", text: `ended processes left half-written files: ${half}` },
    ]);
    await fix(ref);
    const left = [ref.paths.dir, ref.paths.tasks].flatMap((path) => readdirSync(path));
    expect(left.filter((name) => /\.q|\.lock$|tmp/.test(name) && name !== ".lock")).toEqual([
      `.config.json.${process.pid}.1.tmp`,
    ]);
    expect(readdirSync(ref.paths.inboxes).filter((name) => name.endsWith(".q"))).toEqual(["dev.json.q"]);
    expect(await check(ref)).toEqual(WHOLE);
  });

  test("names locks that never expire and keeps them; a common lock is not reported", async () => {
    const ref = await testTeam(["dev", "rev"]);
    await createTask(ref, { subject: "a" });
    const [later, full] = [`${ref.paths.config}.lock`, `${ref.paths.task("1")}.lock`];
    for (const path of [later, full]) mkdirSync(path, { mode: 0o700 });
    age(later, -1);
    writeFileSync(join(full, "x"), "", { mode: 0o600 });
    age(full, 1);
    const files = [`${ref.paths.inbox("dev")}.lock`, `${ref.paths.inbox("rev")}.q`];
    for (const path of files) writeFileSync(path, "", { mode: 0o600 });
    mkdirSync(`${ref.paths.taskLock}.lock`, { mode: 0o700 });
    const found = await fix(ref);
    for (const path of [later, full, ...files]) {
      expect(found).toContainEqual(
        expect.objectContaining({ level: "fail", remedy: expect.stringContaining(`rm -r ${path}`) }),
      );
      expect(existsSync(path)).toBe(true);
    }
    expect(found).toHaveLength(4);
  });

  test("removes old records of former members, and names those of lost and live members", async () => {
    const ref = await testTeam(["dev"]);
    await updateTeam(ref, (config) => ({
      ...config,
      former: [{ name: "ended", agentId: "ended@crew", endedAt: 1, how: "stopped" }],
    }));
    for (const [name, process] of [
      ["ended", deadProcess()],
      ["living", statusOf().process],
      ["lost", deadProcess()],
      ["young", deadProcess()],
    ] as const) {
      writeStatus(ref, name, statusOf({ process }));
      if (name !== "young") age(ref.paths.agent(name).run, 2);
    }
    expect((await check(ref)).map(({ remedy }) => remedy)).toMatchObject([
      expect.stringContaining("teams kill"),
      "Repair it: teams doctor --fix",
      expect.stringContaining("rm -r"),
    ]);
    await fix(ref);
    expect(readdirSync(join(ref.paths.dir, "run"))).toEqual(["living", "lost", "young"]);
  });

  test("keeps the inbox and the records of a name that gets a new member before the repair", async () => {
    const ref = await testTeam(["dev"]);
    const former = [{ name: "ended", agentId: "ended@crew", endedAt: 1, how: "stopped" }];
    await updateTeam(ref, (config) => ({ ...config, former }));
    writeStatus(ref, "ended", statusOf({ process: deadProcess() }));
    age(ref.paths.agent("ended").run, 2);
    const stray = join(ref.paths.inboxes, "stray.json");
    writeFileSync(stray, "[]", { mode: 0o600 });
    const problems = strayFileProblems(ref, true);
    expect(problems.map(({ repair }) => repair)).toEqual([expect.any(Function), expect.any(Function)]);
    await addMembers(ref, [
      { name: "ended", cwd: "/" },
      { name: "stray", cwd: "/" },
    ]);
    writeStatus(ref, "ended", statusOf());
    await sendMessage(ref, { from: "dev", to: "stray", text: "the prompt" });
    for (const { repair } of problems) expect(await repair?.()).toBeUndefined();
    expect(existsSync(ref.paths.agent("ended").status)).toBe(true);
    expect(readFileSync(stray, "utf8")).toContain("the prompt");
  });

  test("removes other users' access to files and directories", async () => {
    const ref = await testTeam(["dev"]);
    chmodSync(ref.paths.config, 0o644);
    chmodSync(ref.paths.inboxes, 0o755);
    expect(await check(ref)).toMatchObject([
      { level: "warn", text: expect.stringContaining(ref.paths.inboxes) },
    ]);
    await fix(ref);
    expect([statSync(ref.paths.config).mode & 0o777, statSync(ref.paths.inboxes).mode & 0o777]).toEqual([
      0o600, 0o700,
    ]);
    expect(await check(ref)).toEqual(WHOLE);
  });
});

test("checkTeams › changes nothing in another program's team unless it is named (S76)", async () => {
  const ref = await testTeam(["dev"]);
  await createTask(ref, { subject: "a" });
  const { schemaVersion: _ours, ...config } = readTeam(ref);
  writeFileSync(ref.paths.config, JSON.stringify(config), { mode: 0o644 });
  chmodSync(ref.paths.config, 0o644);
  writeFileSync(ref.paths.task("1"), "{");
  writeFileSync(ref.paths.inbox("dev"), "[{");
  const before = bytesIn(ref.home.root);
  expect(await fix(ref)).toEqual([
    { name: "teams", level: "ok", text: "none created by teams" },
    {
      name: "other teams",
      level: "ok",
      text: "1 created by other programs; teams doctor <name> checks one: crew",
    },
  ]);
  expect(bytesIn(ref.home.root)).toEqual(before);
  const found = await checkTeams(ref.home, { fix: false, only: "crew" });
  expect(found.map(({ remedy }) => remedy)).toEqual(
    Array(3).fill("Repair it: teams doctor --fix --force crew"),
  );
  expect(bytesIn(ref.home.root)).toEqual(before);
  expect((await checkTeams(ref.home, { fix: true, only: "crew" })).map(({ level }) => level)).toEqual([
    "ok",
    "ok",
    "ok",
  ]);
});

test("checkTeamDirectories › reports a directory without a config, and processes that may still run there", async () => {
  const ref = await testTeam(["ada"]);
  expect(checkTeamDirectories(ref.home.root)).toMatchObject({ level: "ok" });
  writeStatus(ref, "ada", statusOf());
  rmSync(ref.paths.config);
  const remedy = expect.stringContaining("teams delete --force crew");
  mkdirSync(ref.paths.runtime, { recursive: true });
  checkLeftovers(ref.home, Date.now() + 2 * 3_600_000, true);
  expect(existsSync(ref.paths.runtime)).toBe(true);
  expect(checkTeamDirectories(ref.home.root)).toMatchObject({
    level: "fail",
    text: `1 without a config.json: ${ref.paths.dir}; ada (process ${process.pid}) may still run there`,
    remedy,
  });
  rmSync(join(ref.paths.dir, "run"), { recursive: true });
  expect(checkTeamDirectories(ref.home.root)).toMatchObject({ level: "warn", remedy });
});

test("checkTeams › restores the owner's write permission", async () => {
  const ref = await testTeam(["dev"]);
  await sendMessage(ref, { from: "team-lead", to: "dev", text: "hi" });
  const closed = [ref.paths.inboxes, ref.paths.tasks, ref.paths.journal];
  for (const path of closed) chmodSync(path, path === ref.paths.journal ? 0o400 : 0o500);
  const [found] = await check(ref);
  expect(found).toMatchObject({ level: "fail", remedy: "Repair it: teams doctor --fix" });
  for (const path of closed) expect(found?.text).toContain(path);
  await fix(ref);
  expect(closed.map((path) => statSync(path).mode & 0o700)).toEqual([0o700, 0o700, 0o600]);
  expect(await check(ref)).toEqual(WHOLE);
});

test("checkTeams › names a directory in a file's place, and still checks the rest", async () => {
  const ref = await testTeam(["dev"]);
  mkdirSync(ref.paths.journal, { mode: 0o700 });
  mkdirSync(ref.paths.inbox("dev"), { mode: 0o700 });
  writeFileSync(ref.paths.task("1"), "{", { mode: 0o600 });
  const other = await createTeamFiles(ref.home, { name: "other", leadSessionId: "s", leadCwd: "/", now: 1 });
  rmSync(other.paths.config);
  mkdirSync(other.paths.config, { mode: 0o700 });
  const texts = (await check(ref)).map(({ text }) => text);
  for (const path of [ref.paths.journal, ref.paths.inbox("dev"), ref.paths.task("1"), other.paths.config]) {
    expect(texts).toContainEqual(expect.stringContaining(path));
  }
});
