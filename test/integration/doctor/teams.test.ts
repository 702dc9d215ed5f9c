import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Finding } from "../../../src/doctor/finding.ts";
import { checkTeams } from "../../../src/doctor/teams.ts";
import { ownerRecord } from "../../../src/store/lock-owner.ts";
import { readTeam } from "../../../src/team/config.ts";
import { deliver, history } from "../../../src/team/mailbox.ts";
import { writeStatus } from "../../../src/team/records.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { answerRequest, listRequests, openRequest } from "../../../src/team/requests.ts";
import {
  changeTask,
  createTask,
  deleteTask,
  getTask,
  linkTasks,
  listTasks,
} from "../../../src/team/tasks.ts";
import { deadProcess, statusOf } from "../../support/records.ts";
import { testTeam } from "../../support/team.ts";

const look = (ref: TeamRef): Promise<Finding[]> => checkTeams(ref.home, { fix: false });
const fix = (ref: TeamRef): Promise<Finding[]> => checkTeams(ref.home, { fix: true });
const WHOLE = [{ name: "teams", level: "ok", text: "all files are whole: crew" }];

/** The originals that stand beside a file. */
function originalsOf(path: string): string[] {
  const directory = join(path, "..");
  const names = readdirSync(directory).filter((name) => join(directory, name).startsWith(`${path}.broken-`));
  return names.map((name) => readFileSync(join(directory, name), "utf8"));
}

/** Every file with its bytes, and every directory, below a path. */
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

test("of whole teams nothing is said but that they are, and nothing is changed", async () => {
  const ref = await testTeam(["dev"]);
  await createTask(ref, { subject: "a" });
  await deliver(ref, { from: "dev", to: "team-lead", text: "hi" });
  writeStatus(ref, "dev", statusOf());
  const before = bytesIn(ref.home.root);
  expect(await look(ref)).toEqual(WHOLE);
  expect(await fix(ref)).toEqual(WHOLE);
  expect(bytesIn(ref.home.root)).toEqual(before);
});

describe("a broken config", () => {
  test("is mended from what can be read, with the original beside it", async () => {
    const ref = await testTeam(["dev", "rev"]);
    const whole = readTeam(ref);
    const { members, ...rest } = whole;
    const text = JSON.stringify({ ...rest, theirs: 1, members }).slice(0, -20);
    writeFileSync(ref.paths.config, text);
    const [found] = await look(ref);
    expect(found).toMatchObject({ name: "team crew", level: "fail", remedy: "Mend it: teams doctor --fix" });
    expect(readFileSync(ref.paths.config, "utf8")).toBe(text);
    const [done] = await fix(ref);
    expect(done).toMatchObject({
      level: "ok",
      text: expect.stringContaining("mended config.json; it names team-lead"),
    });
    expect(readTeam(ref)).toMatchObject({ schemaVersion: whole.schemaVersion, theirs: 1 });
    expect(readTeam(ref).members.slice(0, 2)).toEqual(whole.members.slice(0, 2));
    expect(originalsOf(ref.paths.config)).toEqual([text]);
    expect(await look(ref)).toEqual(WHOLE);
  });

  test("that does not say whose the team is, is mended by its name alone (S76)", async () => {
    const ref = await testTeam(["dev"]);
    const text = JSON.stringify({ members: readTeam(ref).members }).slice(0, -2);
    writeFileSync(ref.paths.config, text);
    expect(await fix(ref)).toMatchObject([
      { level: "fail", remedy: "Mend it: teams doctor --fix --force crew" },
    ]);
    expect(readFileSync(ref.paths.config, "utf8")).toBe(text);
    await checkTeams(ref.home, { fix: true, only: "crew" });
    expect(readTeam(ref).members.map(({ name }) => name)).toEqual(["team-lead", "dev"]);
  });

  test("of which nothing can be saved stays, until somebody names the team", async () => {
    const ref = await testTeam();
    writeFileSync(ref.paths.config, '{"schemaVersion":"1.1.0","na');
    expect(await fix(ref)).toMatchObject([
      { level: "fail", remedy: expect.stringContaining("teams doctor crew --fix --force") },
    ]);
    expect(readFileSync(ref.paths.config, "utf8")).toBe('{"schemaVersion":"1.1.0","na');
    const [done] = await checkTeams(ref.home, { fix: true, only: "crew" });
    expect(done).toMatchObject({ level: "ok", text: expect.stringMatching(/^set aside as .*teams import/) });
    expect(existsSync(ref.paths.config)).toBe(false);
    expect(originalsOf(ref.paths.config)).toEqual(['{"schemaVersion":"1.1.0","na']);
  });

  test("of a newer form is not touched", async () => {
    const ref = await testTeam();
    const text = '{"schemaVersion":"2.0.0","crew":{}}';
    writeFileSync(ref.paths.config, text);
    expect(await fix(ref)).toMatchObject([{ level: "warn", text: expect.stringContaining("newer version") }]);
    expect(readFileSync(ref.paths.config, "utf8")).toBe(text);
  });
});

describe("broken tasks", () => {
  test("are mended, or set aside with their number never used again", async () => {
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
    expect((await look(ref)).map(({ level }) => level)).toEqual(["fail", "fail"]);
    const texts = (await fix(ref)).map(({ text }) => text);
    expect(texts).toMatchObject([
      expect.stringContaining("mended task #2"),
      expect.stringContaining("set task #3 aside"),
      expect.stringContaining("#1 named #3, which is not there"),
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
    expect(await look(ref)).toEqual(WHOLE);
  });

  test("that say another number have the one of their file", async () => {
    const ref = await testTeam();
    for (const subject of ["one", "two"]) await createTask(ref, { subject });
    writeFileSync(ref.paths.task("2"), readFileSync(ref.paths.task("1"), "utf8"));
    await fix(ref);
    expect(listTasks(ref).map(({ id }) => id)).toEqual(["1", "2"]);
  });

  test("with one-sided and dangling links get both ends, or none", async () => {
    const ref = await testTeam();
    for (const subject of ["one", "two"]) await createTask(ref, { subject });
    await changeTask(ref, "1", (task) => ({ ...task, blocks: ["2"], blockedBy: ["9"] }));
    expect(await look(ref)).toMatchObject([{ level: "warn", text: expect.stringContaining("out of step") }]);
    await fix(ref);
    expect(listTasks(ref)).toMatchObject([
      { blocks: ["2"], blockedBy: [] },
      { blocks: [], blockedBy: ["1"] },
    ]);
  });

  test("a watermark that cannot be read is raised to what can be seen", async () => {
    const ref = await testTeam();
    for (const subject of ["one", "two"]) await createTask(ref, { subject });
    await deleteTask(ref, "2");
    writeFileSync(ref.paths.highWaterMark, "\0\0");
    writeFileSync(`${ref.paths.task("7")}.broken-1`, "{", { mode: 0o600 });
    expect(await look(ref)).toMatchObject([{ level: "warn", text: expect.stringContaining("#7") }]);
    await fix(ref);
    expect((await createTask(ref, { subject: "next" })).id).toBe("8");
  });
});

describe("messages", () => {
  test("a broken inbox keeps its whole entries, and a bad entry is set aside", async () => {
    const ref = await testTeam(["dev", "rev"]);
    for (const to of ["dev", "rev"]) await deliver(ref, { from: "team-lead", to, text: `for ${to}` });
    const path = ref.paths.inbox("dev");
    writeFileSync(path, readFileSync(path, "utf8").replace(/\]$/, ',{"from":"x'));
    writeFileSync(ref.paths.inbox("rev"), readFileSync(ref.paths.inbox("rev"), "utf8").replace(/\]$/, ",7]"));
    expect((await look(ref)).map(({ level }) => level)).toEqual(["fail", "fail"]);
    expect((await fix(ref)).map(({ level }) => level)).toEqual(["ok", "ok"]);
    for (const name of ["dev", "rev"]) {
      expect(await history(ref, name)).toMatchObject([{ text: `for ${name}` }]);
    }
    expect(originalsOf(path)).toHaveLength(1);
    expect(await look(ref)).toEqual(WHOLE);
  });

  test("an inbox of nobody goes, and what was unread in it is journalled as bounced", async () => {
    const ref = await testTeam();
    const path = join(ref.paths.inboxes, "gh%20st.json");
    writeFileSync(path, JSON.stringify([{ from: "a", text: "for nobody", timestamp: "t" }]), { mode: 0o600 });
    expect(await look(ref)).toMatchObject([{ level: "warn", text: expect.stringContaining(path) }]);
    await fix(ref);
    expect(existsSync(path)).toBe(false);
    expect(await history(ref, "gh st", { all: true })).toMatchObject([
      { text: "for nobody", state: "bounced" },
    ]);
  });

  test("a journal's torn line is closed, and nothing else of it changes", async () => {
    const ref = await testTeam(["dev"]);
    await deliver(ref, { from: "team-lead", to: "dev", text: "hi" });
    appendFileSync(ref.paths.journal, '{"at":1,"id"');
    const torn = readFileSync(ref.paths.journal, "utf8");
    expect(await look(ref)).toMatchObject([
      { level: "warn", text: expect.stringContaining("never finished") },
    ]);
    await fix(ref);
    expect(readFileSync(ref.paths.journal, "utf8")).toBe(`${torn}\n`);
  });
});

test("requests and records that cannot be read are set aside, and an answer to nothing goes", async () => {
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
  expect((await look(ref)).map(({ level }) => level)).toEqual(["warn", "warn", "warn"]);
  await fix(ref);
  expect(originalsOf(status)).toEqual(["{"]);
  expect(originalsOf(join(ref.paths.requests, "bad.json"))).toEqual(["{"]);
  expect(listRequests(ref).map(({ id }) => id)).toEqual(["open"]);
  expect(existsSync(ref.paths.request("q").answer)).toBe(true);
  expect(existsSync(join(ref.paths.requests, "gone.answer"))).toBe(false);
  expect(await look(ref)).toEqual(WHOLE);
});

describe("what dead processes left", () => {
  /** A record of a process of this machine that has ended. */
  const deadRecord = (): string => ownerRecord("x").replace(/^\d+/, String(spawnSync("true").pid));

  test("locks, their records and half-written files go; those of the living stay", async () => {
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
    expect(await look(ref)).toMatchObject([
      { level: "warn", text: `ended processes left locks on ${config}, ${inbox}, ${task}` },
      { level: "warn", text: `ended processes left half-written files: ${half}` },
    ]);
    await fix(ref);
    const left = [ref.paths.dir, ref.paths.tasks].flatMap((path) => readdirSync(path));
    expect(left.filter((name) => /\.q|\.lock$|tmp/.test(name) && name !== ".lock")).toEqual([
      `.config.json.${process.pid}.1.tmp`,
    ]);
    expect(readdirSync(ref.paths.inboxes).filter((name) => name.endsWith(".q"))).toEqual(["dev.json.q"]);
    expect(await look(ref)).toEqual(WHOLE);
  });

  test("records of an agent that is no member go when they are old and its process has ended", async () => {
    const ref = await testTeam(["dev"]);
    for (const [name, process] of [
      ["ended", deadProcess()],
      ["living", statusOf().process],
      ["young", deadProcess()],
    ] as const) {
      writeStatus(ref, name, statusOf({ process }));
      if (name !== "young") age(ref.paths.agent(name).run, 2);
    }
    const found = await look(ref);
    expect(found.map(({ remedy }) => remedy)).toMatchObject(["Mend it: teams doctor --fix", /may still run/]);
    await fix(ref);
    expect(readdirSync(join(ref.paths.dir, "run"))).toEqual(["living", "young"]);
  });

  test("what others could read is closed to them", async () => {
    const ref = await testTeam(["dev"]);
    chmodSync(ref.paths.config, 0o644);
    chmodSync(ref.paths.inboxes, 0o755);
    expect(await look(ref)).toMatchObject([
      { level: "warn", text: expect.stringContaining(ref.paths.inboxes) },
    ]);
    await fix(ref);
    expect([statSync(ref.paths.config).mode & 0o777, statSync(ref.paths.inboxes).mode & 0o777]).toEqual([
      0o600, 0o700,
    ]);
    expect(await look(ref)).toEqual(WHOLE);
  });
});

test("of a foreign team no byte and no mode is changed, whatever is wrong with it, unless it is named (S76)", async () => {
  const ref = await testTeam(["dev"]);
  await createTask(ref, { subject: "a" });
  const { schemaVersion: _ours, ...config } = readTeam(ref);
  writeFileSync(ref.paths.config, JSON.stringify(config), { mode: 0o644 });
  chmodSync(ref.paths.config, 0o644);
  writeFileSync(ref.paths.task("1"), "{");
  writeFileSync(ref.paths.inbox("dev"), "[{");
  const before = bytesIn(ref.home.root);
  expect(await fix(ref)).toEqual([{ name: "teams", level: "ok", text: "none of ours" }]);
  expect(bytesIn(ref.home.root)).toEqual(before);
  const found = await checkTeams(ref.home, { fix: false, only: "crew" });
  expect(found.map(({ remedy }) => remedy)).toEqual(
    Array(3).fill("Mend it: teams doctor --fix --force crew"),
  );
  expect(bytesIn(ref.home.root)).toEqual(before);
  expect((await checkTeams(ref.home, { fix: true, only: "crew" })).map(({ level }) => level)).toEqual([
    "ok",
    "ok",
    "ok",
  ]);
});
