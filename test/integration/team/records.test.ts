import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { bootId, pidSpace } from "../../../src/os/identity.ts";
import {
  clearRun,
  prepareRun,
  readExit,
  readPlace,
  readStatus,
  removeRun,
  writePlace,
  writeStatus,
} from "../../../src/team/records.ts";
import {
  answerRequest,
  closeRequest,
  listRequests,
  openRequest,
  readAnswer,
  readRequest,
} from "../../../src/team/requests.ts";
import { statusOf } from "../../support/records.ts";
import { testTeam } from "../../support/team.ts";

const PLACE = { instance: "i", backend: "process", spawnedAt: 5 };

test("each record has its file, and is gone when the run is cleared", async () => {
  const ref = await testTeam(["a b"]);
  writeStatus(ref, "a b", statusOf({ state: "running" }));
  writePlace(ref, "a b", PLACE);
  writeFileSync(ref.paths.agent("a b").exit, '{"instance":"i","code":137,"at":9}');
  expect(readStatus(ref, "a b")?.state).toBe("running");
  expect(readPlace(ref, "a b")).toEqual({ ...PLACE, pidSpace: pidSpace(), bootId: bootId() });
  expect(readExit(ref, "a b")).toMatchObject({ code: 137, lastLines: [] });
  clearRun(ref, "a b");
  expect(readdirSync(ref.paths.agent("a b").run)).toEqual([]);
});

test("a record that cannot be read is none", async () => {
  const ref = await testTeam(["a"]);
  writeStatus(ref, "a", statusOf());
  for (const content of ["{", '{"state":"dancing"}', ""]) {
    writeFileSync(ref.paths.agent("a").status, content);
    expect(readStatus(ref, "a")).toBeUndefined();
  }
  expect(readStatus(ref, "nobody")).toBeUndefined();
});

test("a run's directories and FIFOs are made, ours alone, and removed without a trace", async () => {
  const ref = await testTeam(["a", "b"]);
  await prepareRun(ref, ["a", "b"]);
  const { runtime, bell, lifeline, ready } = ref.paths.agent("b");
  for (const fifo of [bell, lifeline, ready]) expect(statSync(fifo).isFIFO()).toBe(true);
  expect(statSync(runtime).mode & 0o777).toBe(0o700);
  await prepareRun(ref, ["a"]);
  for (const name of ["a", "b"]) removeRun(ref, name);
  expect(readdirSync(ref.paths.runtime)).toEqual([]);
});

test("a key of the environment is in no status, whatever the agent is doing (S75)", async () => {
  const ref = await testTeam(["a"]);
  process.env.RECORDS_TEST_API_KEY = "sk-very-secret-2";
  onTestFinished(() => {
    delete process.env.RECORDS_TEST_API_KEY;
  });
  writeStatus(ref, "a", statusOf({ activity: "Bash(curl -H sk-very-secret-2 x)" }));
  expect(readStatus(ref, "a")?.activity).toBe("Bash(curl -H [secret] x)");
});

test("a runtime directory that is open to others or a link is refused", async () => {
  const ref = await testTeam(["a"]);
  mkdirSync(dirname(ref.home.runtime), { recursive: true });
  mkdirSync(ref.home.runtime);
  chmodSync(ref.home.runtime, 0o777);
  await expect(prepareRun(ref, ["a"])).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  chmodSync(ref.home.runtime, 0o700);
  symlinkSync("/tmp", ref.paths.runtime);
  await expect(prepareRun(ref, ["a"])).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
});

const REQUEST = {
  id: "plan_approval-1@a@crew",
  kind: "plan",
  from: "a",
  summary: "s",
  payload: { x: 1 },
  at: 5,
} as const;
const YES = { approve: true, by: "team-lead", at: 6 };

test("a request waits until it is answered, once", async () => {
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

test("a request that is closed, or never was, cannot be answered", async () => {
  const ref = await testTeam(["a"]);
  openRequest(ref, REQUEST);
  expect(readRequest(ref, REQUEST.id)).toEqual(REQUEST);
  closeRequest(ref, REQUEST.id);
  for (const id of [REQUEST.id, "../../x"]) {
    await expect(answerRequest(ref, id, YES)).rejects.toMatchObject({ code: "REQUEST_NOT_FOUND" });
  }
  expect(readdirSync(ref.paths.requests)).toEqual([]);
});
