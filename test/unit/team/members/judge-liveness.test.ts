import { expect, test } from "vitest";
import type { Liveness } from "../../../../src/os/process/identity.ts";
import { teamMember } from "../../../../src/schema/config.ts";
import {
  exitRecord,
  type HookRecord,
  type PlaceRecord,
  statusRecord,
} from "../../../../src/schema/status.ts";
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
  ["unknown if it has no records", {}, "alive", ["unknown", null, null]],
  ["starting if it has a place and is not ready", { place: PLACE }, "alive", ["starting", true, null]],
  ["crashed if its place vanished before it was ready", { place: PLACE }, "dead", ["crashed", false, null]],
  [
    "crashed if the backend does not list its place",
    { place: PLACE, presentInstances: new Set([]) },
    "alive",
    ["crashed", false, null],
  ],
  [
    "starting if the backend lists its place",
    { place: PLACE, presentInstances: new Set(["i"]) },
    "dead",
    ["starting", true, null],
  ],
  [
    "unknown if it starts in another pid space, whose places no local backend sees (S77)",
    { place: PLACE, presentInstances: new Set([]) },
    "unknown",
    ["unknown", null, null],
  ],
  [
    "running if its process lives and its status says so",
    { place: PLACE, status: status("running") },
    "alive",
    ["running", true, null],
  ],
  [
    "unknown if its process is on another machine",
    { place: PLACE, status: status() },
    "unknown",
    ["unknown", null, null],
  ],
  [
    "crashed if its process is gone without an exit record",
    { place: PLACE, status: status() },
    "dead",
    ["crashed", false, null],
  ],
  [
    "exited if its process is gone and its status was stopping",
    { place: PLACE, status: status("stopping") },
    "dead",
    ["exited", false, null],
  ],
  [
    "exited if its exit code is 0",
    { place: PLACE, status: status(), exit: exit(0) },
    "dead",
    ["exited", false, 0],
  ],
  [
    "crashed if its exit code is not 0",
    { place: PLACE, status: status(), exit: exit(3) },
    "dead",
    ["crashed", false, 3],
  ],
  [
    "crashed after SIGKILL",
    { place: PLACE, status: status(), exit: exit(137, "SIGKILL") },
    "dead",
    ["crashed", false, "SIGKILL"],
  ],
  [
    "exited after SIGHUP, when its pane was closed",
    { place: PLACE, status: status(), exit: exit(129, "SIGHUP") },
    "dead",
    ["exited", false, "SIGHUP"],
  ],
  [
    "exited after SIGINT, even if its status still says running",
    { place: PLACE, status: status("running"), exit: exit(130, "SIGINT") },
    "dead",
    ["exited", false, "SIGINT"],
  ],
  [
    "exited after SIGTERM",
    { place: PLACE, status: status("running"), exit: exit(143, "SIGTERM") },
    "dead",
    ["exited", false, "SIGTERM"],
  ],
  [
    "starting again if its place belongs to a newer start than its exit record",
    { place: { ...PLACE, instance: "j" }, status: status(), exit: exit(137, "SIGKILL") },
    "alive",
    ["starting", true, null],
  ],
] as const)("judgeLiveness: a member is %s", (_what, records, liveness, expected) => {
  expect(verdict(records as Partial<AgentRecords>, liveness)).toEqual(expected);
});

test("judgeLiveness: a member inside the lead's process can exit while that process lives", () => {
  const inside = { ...MEMBER, backendType: "in-process" };
  expect(verdict({ status: status("exited") }, "alive", inside)).toEqual(["exited", false, null]);
});

const hook = (event: HookRecord["event"], fields: Partial<HookRecord> = {}): HookRecord => ({
  event,
  at: 9,
  detail: "Bash: make",
  ...fields,
});

test.each([
  ["running by a tool", { state: "unknown" }, hook("tool"), ["running", "hook", "Bash: make"]],
  [
    "needs-input by a question",
    { stateFrom: "signal" },
    hook("asking"),
    ["needs-input", "hook", "Bash: make"],
  ],
  ["idle by the end of a turn", { state: "unknown" }, hook("resting"), ["idle", "hook", "Bash: make"]],
  [
    "as its bridge reports after an older hook",
    { state: "unknown", since: 10 },
    hook("tool"),
    ["unknown", undefined, undefined],
  ],
  [
    "as its bridge reports if the bridge sees its turns",
    { state: "idle" },
    hook("tool"),
    ["idle", undefined, undefined],
  ],
  [
    "as its bridge reports after the hook of another start",
    { state: "unknown" },
    hook("tool", { instance: "other" }),
    ["unknown", undefined, undefined],
  ],
] as const)("a program that reads keys, with hooks › is %s", (_state, fields, record, expected) => {
  const records = { status: { ...status(), ...fields }, place: PLACE, exit: undefined, hook: record };
  const { state, stateFrom, activity } = judgeLiveness(MEMBER, records, () => "alive");
  expect([state, stateFrom, activity]).toEqual(expected);
});
