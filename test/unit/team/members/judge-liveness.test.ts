import { expect, test } from "vitest";
import type { Liveness } from "../../../../src/os/process/identity.ts";
import { teamMember } from "../../../../src/schema/config.ts";
import { exitRecord, type PlaceRecord, statusRecord } from "../../../../src/schema/status.ts";
import { type AgentRecords, judgeLiveness } from "../../../../src/team/members/judge-liveness.ts";

const MEMBER = teamMember.parse({ name: "a" });
const PLACE: PlaceRecord = { instance: "i", backend: "tmux", panePid: 7, spawnedAt: 1 };
const status = (state = "idle", instance = "i") =>
  statusRecord.parse({
    sessionId: "s",
    transcript: "t",
    process: { pid: 9, procStart: "1" },
    instance,
    state,
    since: 1,
    startedAt: 1,
    lastActivityAt: 1,
  });
const exit = (code: number, signal?: string) =>
  exitRecord.parse({ instance: "i", code, signal, at: 5, lastLines: ["bye"] });

const verdict = (records: Partial<AgentRecords>, liveness: Liveness = "alive", member = MEMBER) => {
  const all = { status: undefined, place: undefined, exit: undefined, ...records };
  const { state, alive, exit: end } = judgeLiveness(member, all, () => liveness);
  return [state, alive, end?.signal ?? end?.code ?? null];
};

test.each([
  ["nothing known of it", {}, "alive", ["unknown", null, null]],
  ["put somewhere, not ready", { place: PLACE }, "alive", ["starting", true, null]],
  ["its place vanished before it was ready", { place: PLACE }, "dead", ["crashed", false, null]],
  [
    "the backend does not have its place",
    { place: PLACE, presentInstances: new Set([]) },
    "alive",
    ["crashed", false, null],
  ],
  [
    "the backend has it",
    { place: PLACE, presentInstances: new Set(["i"]) },
    "dead",
    ["starting", true, null],
  ],
  [
    "starting in another pid space, whose places no backend here sees (S77)",
    { place: PLACE, presentInstances: new Set([]) },
    "unknown",
    ["unknown", null, null],
  ],
  ["at work", { place: PLACE, status: status("running") }, "alive", ["running", true, null]],
  ["another machine's", { place: PLACE, status: status() }, "unknown", ["unknown", null, null]],
  ["gone without a word", { place: PLACE, status: status() }, "dead", ["crashed", false, null]],
  ["gone as it said it would", { place: PLACE, status: status("stopping") }, "dead", ["exited", false, null]],
  ["ended well", { place: PLACE, status: status(), exit: exit(0) }, "dead", ["exited", false, 0]],
  ["failed", { place: PLACE, status: status(), exit: exit(3) }, "dead", ["crashed", false, 3]],
  [
    "killed",
    { place: PLACE, status: status(), exit: exit(137, "SIGKILL") },
    "dead",
    ["crashed", false, "SIGKILL"],
  ],
  [
    "its pane was closed",
    { place: PLACE, status: status(), exit: exit(129, "SIGHUP") },
    "dead",
    ["exited", false, "SIGHUP"],
  ],
  [
    "a person's Ctrl-C, also of a program that says nothing of its end",
    { place: PLACE, status: status("running"), exit: exit(130, "SIGINT") },
    "dead",
    ["exited", false, "SIGINT"],
  ],
  [
    "a plain kill",
    { place: PLACE, status: status("running"), exit: exit(143, "SIGTERM") },
    "dead",
    ["exited", false, "SIGTERM"],
  ],
  [
    "started again since",
    { place: { ...PLACE, instance: "j" }, status: status(), exit: exit(137, "SIGKILL") },
    "alive",
    ["starting", true, null],
  ],
] as const)("%s", (_what, records, liveness, expected) => {
  expect(verdict(records as Partial<AgentRecords>, liveness)).toEqual(expected);
});

test("an agent inside its lead's process ends without it", () => {
  const inside = { ...MEMBER, backendType: "in-process" };
  expect(verdict({ status: status("exited") }, "alive", inside)).toEqual(["exited", false, null]);
});
