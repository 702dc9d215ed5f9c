import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { LaunchScriptInput } from "../../../../src/launch/launch-script.ts";
import { prepareLaunches } from "../../../../src/launch/prepare.ts";
import { bootId, pidSpace } from "../../../../src/os/process/identity.ts";
import { addSecrets } from "../../../../src/os/redact.ts";
import {
  clearRun,
  readExit,
  readPlace,
  readStatus,
  removeRun,
  writePlace,
} from "../../../../src/team/records/read-records.ts";
import { prepareRun, writeStatus } from "../../../../src/team/records/write-records.ts";
import { type TeamRef, teamRef } from "../../../../src/team/ref.ts";
import {
  answerRequest,
  closeRequest,
  listRequests,
  openRequest,
  readAnswer,
  readRequest,
} from "../../../../src/team/requests/requests.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";

const PLACE = { instance: "i", backend: "process", spawnedAt: 5 };

test("records › have one file each, and clearRun removes all but the undelivered reports", async () => {
  const ref = await testTeam(["a b"]);
  writeStatus(ref, "a b", statusOf({ state: "running" }));
  writePlace(ref, "a b", PLACE);
  writeFileSync(ref.paths.agent("a b").exit, '{"instance":"i","code":137,"at":9}');
  expect(readStatus(ref, "a b")?.state).toBe("running");
  expect(readPlace(ref, "a b")).toEqual({ ...PLACE, pidSpace: pidSpace(), bootId: bootId() });
  expect(readExit(ref, "a b")).toMatchObject({ code: 137, lastLines: [] });
  const { lastWords, edits, unsent, run } = ref.paths.agent("a b");
  for (const path of [lastWords, edits, unsent]) writeFileSync(path, "[]");
  clearRun(ref, "a b");
  expect(readdirSync(run)).toEqual(["unsent.json"]);
});

test("writePlace › keeps the pid space of an existing place", async () => {
  const ref = await testTeam(["a"]);
  const elsewhere = { ...PLACE, pidSpace: "another", bootId: "another" };
  writePlace(ref, "a", elsewhere);
  expect(readPlace(ref, "a")).toEqual(elsewhere);
});

test("readStatus › returns undefined for an unreadable record", async () => {
  const ref = await testTeam(["a"]);
  writeStatus(ref, "a", statusOf());
  for (const content of ["{", '{"state":"dancing"}', ""]) {
    writeFileSync(ref.paths.agent("a").status, content);
    expect(readStatus(ref, "a")).toBeUndefined();
  }
  expect(readStatus(ref, "nobody")).toBeUndefined();
});

test("prepareRun › creates private directories and FIFOs, and removeRun removes all of them", async () => {
  const ref = await testTeam(["a", "b"]);
  await prepareRun(ref, ["a", "b"]);
  const { runtime, bell, lifeline, ready } = ref.paths.agent("b");
  for (const fifo of [bell, lifeline, ready]) expect(statSync(fifo).isFIFO()).toBe(true);
  expect(statSync(runtime).mode & 0o777).toBe(0o700);
  await prepareRun(ref, ["a"]);
  for (const name of ["a", "b"]) removeRun(ref, name);
  expect(readdirSync(ref.paths.runtime)).toEqual([]);
});

test("writeStatus › redacts secrets in the activity (S75)", async () => {
  const ref = await testTeam(["a"]);
  addSecrets({ RECORDS_TEST_API_KEY: "sk-very-secret-2" });
  writeStatus(ref, "a", statusOf({ activity: "Bash(curl -H sk-very-secret-2 x)" }));
  expect(readStatus(ref, "a")?.activity).toBe("Bash(curl -H [secret] x)");
});

describe("the runtime directory", () => {
  const LEVELS = ["runtime", "root", "team", "agent"] as const;
  const FLAWS: Record<string, (path: string) => void> = {
    "is open to others": (path) => mkdirSync(path, { mode: 0o700 }) ?? chmodSync(path, 0o750),
    "is a link": (path) => symlinkSync(temporaryDirectory(), path),
    "is a link to nothing": (path) => symlinkSync("/nowhere/at/all", path),
    "is a file": (path) => writeFileSync(path, ""),
  };
  if (process.getuid?.() === 0) {
    FLAWS["belongs to another user"] = (path) =>
      mkdirSync(path, { mode: 0o700 }) ?? chownSync(path, 65_534, 65_534);
  }
  const cases = LEVELS.flatMap((level) =>
    Object.entries(FLAWS).map(([flaw, make]) => [level, flaw, make] as const),
  );

  test.each(cases)("is refused and left empty if its %s level %s", async (level, _flaw, make) => {
    const made = await testTeam(["a"]);
    const runtime = join(dirname(made.home.root), "run", "teams");
    const ref = teamRef({ root: made.home.root, runtime: join(runtime, "hash") }, made.team);
    const paths = {
      runtime,
      root: ref.home.runtime,
      team: ref.paths.runtime,
      agent: ref.paths.agent("a").runtime,
    };
    mkdirSync(dirname(paths[level]), { recursive: true, mode: 0o700 });
    make(paths[level]);
    await expect(prepareRun(ref, ["a"])).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    const launch = prepareLaunches([launchOf(ref)]);
    await expect(launch).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    expect(
      statSync(paths[level], { throwIfNoEntry: false })?.isDirectory() ? readdirSync(paths[level]) : [],
    ).toEqual([]);
  });

  test("is reported with the system's error if it cannot be created", async () => {
    const made = await testTeam(["a"]);
    const ref = teamRef({ root: made.home.root, runtime: "/proc/none/teams/hash" }, made.team);
    await expect(prepareRun(ref, ["a"])).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
      message: expect.stringContaining("/proc/none"),
    });
  });
});

function launchOf(ref: TeamRef): LaunchScriptInput {
  const paths = ref.paths.agent("a");
  return { agentId: "a@crew", cwd: "/", paths, keptVariables: [], bells: [], surface: "log" };
}

const REQUEST = {
  id: "plan_approval-1@a@crew",
  kind: "plan",
  from: "a",
  summary: "s",
  payload: { x: 1 },
  at: 5,
} as const;
const YES = { approve: true, by: "team-lead", at: 6 };

test("a request › waits until it is answered, and takes one answer", async () => {
  const ref = await testTeam(["a"]);
  openRequest(ref, { ...REQUEST, id: "later", at: 9 });
  openRequest(ref, REQUEST);
  expect(listRequests(ref).map(({ id }) => id)).toEqual([REQUEST.id, "later"]);
  const answers = await Promise.all([
    answerRequest(ref, REQUEST.id, YES),
    answerRequest(ref, REQUEST.id, { ...YES, approve: false }),
  ]);
  expect(answers.sort()).toEqual(["already", "answered"]);
  expect(readAnswer(ref, REQUEST.id)).toEqual(YES);
  expect(listRequests(ref).map(({ id }) => id)).toEqual(["later"]);
});

test("a request › cannot be answered once closed, or if it never existed", async () => {
  const ref = await testTeam(["a"]);
  openRequest(ref, REQUEST);
  expect(readRequest(ref, REQUEST.id)).toEqual(REQUEST);
  closeRequest(ref, REQUEST.id);
  for (const id of [REQUEST.id, "../../x"]) {
    await expect(answerRequest(ref, id, YES)).rejects.toMatchObject({ code: "REQUEST_NOT_FOUND" });
  }
  expect(readdirSync(ref.paths.requests)).toEqual([]);
});
