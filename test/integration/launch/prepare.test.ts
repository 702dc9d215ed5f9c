import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { discardLaunch, prepareLaunches, prepareStarts } from "../../../src/launch/prepare.ts";
import { systemClock } from "../../../src/os/clock.ts";
import type { PlaceRecord } from "../../../src/schema/status.ts";
import { readTeam } from "../../../src/team/config/config.ts";
import { judgeLiveness } from "../../../src/team/members/judge-liveness.ts";
import { findMember } from "../../../src/team/members/members.ts";
import {
  clearRun,
  readExit,
  readPlace,
  readStatus,
  restoreRun,
  writePlace,
} from "../../../src/team/records/read-records.ts";
import { writeRecord, writeStatus } from "../../../src/team/records/write-records.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { deadProcess, statusOf } from "../../support/team/status-records.ts";
import { testTeam } from "../../support/team/test-team.ts";

const PLACE: PlaceRecord = { instance: "first", backend: "tmux", panePid: 2 ** 22 + 1, spawnedAt: 1 };

/** A team whose dev has exited after a hangup, with all records of its start. */
async function teamWithExited(): Promise<TeamRef> {
  const ref = await testTeam(["dev"]);
  const paths = ref.paths.agent("dev");
  writeStatus(ref, "dev", statusOf({ sessionId: "its-session", instance: "first", process: deadProcess() }));
  writePlace(ref, "dev", PLACE);
  const at = systemClock.now();
  writeRecord(ref, paths.exit, { instance: "first", code: 129, signal: "SIGHUP", at, lastLines: [] });
  writeRecord(ref, paths.crash, { instance: "first", code: 3, at, lastLines: [] });
  return ref;
}

const recordsIn = (ref: TeamRef) =>
  Object.fromEntries(
    ["status", "place", "exit", "crash"].map((name) => {
      const path = ref.paths.agent("dev")[name as "status"];
      return [name, existsSync(path) ? readFileSync(path, "utf8") : undefined];
    }),
  );
const stateIn = (ref: TeamRef) =>
  judgeLiveness(findMember(readTeam(ref), "dev"), {
    status: readStatus(ref, "dev"),
    place: readPlace(ref, "dev"),
    exit: readExit(ref, "dev"),
  }).state;

test("prepareStarts › keeps the records of the earlier start, which describe the member until the next start writes its own", async () => {
  const ref = await teamWithExited();
  expect(stateIn(ref)).toBe("exited");
  await prepareStarts([ref.paths.agent("dev")]);
  expect([readStatus(ref, "dev")?.sessionId, stateIn(ref)]).toEqual(["its-session", "exited"]);
  // A second start, as if the process of the first one was killed here.
  await prepareStarts([ref.paths.agent("dev")]);
  expect([readStatus(ref, "dev")?.sessionId, stateIn(ref)]).toEqual(["its-session", "exited"]);
  writePlace(ref, "dev", { ...PLACE, instance: "second", panePid: process.pid });
  expect([readStatus(ref, "dev"), readExit(ref, "dev"), stateIn(ref)]).toEqual([
    undefined,
    undefined,
    "starting",
  ]);
});

test("prepareLaunches › creates nothing after it has failed", async () => {
  const ref = await testTeam(["dev"]);
  const paths = ref.paths.agent("dev");
  // A directory in place of the script cannot be replaced.
  mkdirSync(`${paths.launchScript}/inner`, { recursive: true });
  const start = { agentId: "dev@crew", cwd: "/", paths, keptVariables: [], bells: [] };
  await expect(prepareLaunches([{ ...start, surface: "log" }])).rejects.toThrow();
  expect([paths.bell, paths.lifeline, paths.ready].map(existsSync)).toEqual([true, true, true]);
});

test.each([
  ["its first record", () => undefined],
  [
    "its place",
    (ref: TeamRef) => writePlace(ref, "dev", { ...PLACE, instance: "second", panePid: process.pid }),
  ],
  [
    "its place and status",
    (ref: TeamRef) => {
      writePlace(ref, "dev", { ...PLACE, instance: "second", panePid: process.pid });
      writeStatus(ref, "dev", statusOf({ instance: "second" }));
    },
  ],
])(
  "restoreRun › restores the earlier records by renaming when a start fails after %s",
  async (_when, begin) => {
    const ref = await teamWithExited();
    const before = recordsIn(ref);
    const paths = ref.paths.agent("dev");
    await prepareStarts([paths]);
    begin(ref);
    discardLaunch(paths);
    restoreRun(ref, "dev", "second");
    expect(recordsIn(ref)).toEqual(before);
    restoreRun(ref, "dev", "second");
    expect(recordsIn(ref)).toEqual(before);
  },
);

test("restoreRun › leaves the records of a member alone if its start did not rename them", async () => {
  const ref = await teamWithExited();
  const before = recordsIn(ref);
  const { run, status } = ref.paths.agent("dev");
  mkdirSync(run, { recursive: true });
  writeFileSync(`${status}.last`, "{}");
  restoreRun(ref, "dev", "second");
  expect(recordsIn(ref)).toEqual(before);
});

test("clearRun › removes the records of all earlier starts, for a new holder of the name", async () => {
  const ref = await teamWithExited();
  const { run } = ref.paths.agent("dev");
  await prepareStarts([ref.paths.agent("dev")]);
  writeStatus(ref, "dev", statusOf());
  clearRun(ref, "dev");
  expect(readdirSync(run).filter((name) => name.includes(".json"))).toEqual([]);
});
