import { expect, test } from "vitest";
import { type ForeignFacts, judgeForeign } from "../../../../src/team/members/judge-foreign.ts";

const NOTHING: ForeignFacts = {
  alive: null,
  agreedToStop: false,
  turnEnds: [],
  taken: [],
  unread: 0,
  isActive: false,
  now: 31_000,
};
const judged = (facts: Partial<ForeignFacts>): unknown[] => {
  const { state, stateFrom } = judgeForeign({ ...NOTHING, ...facts });
  return [state, stateFrom];
};
/** Idle notices at these seconds. */
const ends = (...seconds: number[]) => seconds.map((at) => ({ at: at * 1_000 }));
const at = (...seconds: number[]) => seconds.map((one) => one * 1_000);

test.each<[string, Partial<ForeignFacts>, unknown[]]>([
  ["unknown without evidence", {}, ["unknown", null]],
  ["unknown without evidence, though its process runs", { alive: true }, ["unknown", null]],
  ["idle after its idle notice", { turnEnds: ends(5), taken: at(1) }, ["idle", "notice"]],
  [
    "idle by an interrupt after the notice of an interrupted turn",
    { turnEnds: [{ at: 5_000, interrupted: true }], taken: at(1) },
    ["idle", "interrupt"],
  ],
  [
    "idle after its idle notice, though the config still says active",
    { turnEnds: ends(5), taken: at(1), isActive: true },
    ["idle", "notice"],
  ],
  ["running after it took a message", { turnEnds: ends(5), taken: at(1, 7) }, ["running", "inbox"]],
  ["running after it took its first message", { taken: at(1) }, ["running", "inbox"]],
  ["running after it sent a message", { turnEnds: ends(5), saidAt: 6_000 }, ["running", "message"]],
  ["unknown after a message, if it has never sent an idle notice", { saidAt: 6_000 }, ["unknown", null]],
  [
    "running after it took the answer to its permission",
    { turnEnds: ends(5), continuedAt: 6_000 },
    ["running", "inbox"],
  ],
  ["unknown while it leaves a message unread", { turnEnds: ends(5), unread: 1 }, ["unknown", "inbox"]],
  [
    "needs-input while its permission request is open",
    { turnEnds: ends(5), taken: at(6), request: { kind: "permission", at: 7_000 } },
    ["needs-input", "request"],
  ],
  [
    "needs-input while its plan is open, after the idle notice that follows a plan",
    { turnEnds: ends(5), request: { kind: "plan", at: 4_900 } },
    ["needs-input", "request"],
  ],
  [
    "idle when its turn has ended despite its permission request",
    { turnEnds: ends(5), request: { kind: "permission", at: 3_000 } },
    ["idle", "notice"],
  ],
  [
    "failed when its last notice says so",
    { turnEnds: [{ at: 5_000, failure: "no login" }] },
    ["failed", "notice"],
  ],
  [
    "idle when a later turn did not fail",
    { turnEnds: [{ at: 5_000, failure: "no login" }, { at: 9_000 }] },
    ["idle", "notice"],
  ],
  ["idle after an interrupt by teams", { taken: at(1), interruptedAt: 3_000 }, ["idle", "interrupt"]],
  [
    "running after a message that followed an interrupt by teams",
    { taken: at(4), interruptedAt: 3_000 },
    ["running", "inbox"],
  ],
  [
    "stopping after it agreed to shut down",
    { turnEnds: ends(5), agreedToStop: true },
    ["stopping", "message"],
  ],
  [
    "exited if it agreed to shut down and its process is gone",
    { alive: false, agreedToStop: true },
    ["exited", "process"],
  ],
  ["crashed if its process is gone", { alive: false, turnEnds: ends(5) }, ["crashed", "process"]],
])("a foreign member › is %s", (_state, facts, expected) => {
  expect(judged(facts)).toEqual(expected);
});

test.each<[string, Partial<ForeignFacts>, string]>([
  ["running", { turnEnds: ends(1, 30), taken: at(10, 14) }, "running"],
  [
    "running for a long time if the config confirms it",
    { turnEnds: ends(1, 20), taken: at(10, 14), isActive: true },
    "running",
  ],
  [
    "idle after a while if the config does not confirm it",
    { turnEnds: ends(1, 20), taken: at(10, 14) },
    "idle",
  ],
  ["idle after the second notice", { turnEnds: ends(1, 20, 30), taken: at(10, 14) }, "idle"],
  [
    "running if another message came in that turn",
    { turnEnds: ends(1, 20, 30), taken: at(10, 14, 25) },
    "running",
  ],
  ["idle if it took both messages in one read", { turnEnds: ends(1, 30), taken: at(10, 10.5) }, "idle"],
  [
    "idle if an interrupt by teams ended the turn of the first message",
    { turnEnds: ends(1, 30), taken: at(10, 14), interruptedAt: 12_000 },
    "idle",
  ],
  ["idle in its first turn, which may have begun late", { turnEnds: ends(30), taken: at(10, 14) }, "idle"],
  [
    "running in its first turn if the config confirms it",
    { turnEnds: ends(30), taken: at(10, 14), isActive: true },
    "running",
  ],
])("a foreign member that got a message in its turn › is %s", (_state, facts, expected) => {
  expect(judgeForeign({ ...NOTHING, ...facts }).state).toBe(expected);
});

const rests = (second: number) => ({ state: "resting" as const, at: second * 1_000 });
const works = (second: number) => ({ state: "working" as const, at: second * 1_000 });

test.each<[string, Partial<ForeignFacts>, unknown[]]>([
  [
    "idle after a hook, even with an unread message",
    { reported: rests(5), tookAt: 4_000, unread: 1 },
    ["idle", "hook"],
  ],
  [
    "unknown until it takes its first message",
    { reported: { ...rests(5), isStart: true }, unread: 1 },
    ["unknown", "inbox"],
  ],
  ["idle after a turn that was begun on its screen", { reported: rests(5), unread: 1 }, ["idle", "hook"]],
  ["running after a hook", { reported: works(6), turnEnds: ends(5) }, ["running", "hook"]],
  [
    "needs-input while its screen asks",
    { reported: { state: "asking", at: 6_000 }, turnEnds: ends(5) },
    ["needs-input", "hook"],
  ],
  [
    "running after it was seen to take a message that was sent before its start",
    { reported: rests(5), taken: at(1), tookAt: 6_000 },
    ["running", "inbox"],
  ],
  [
    "running if it took a message before a late hook of the previous end",
    { turnEnds: ends(5), tookAt: 5_200, reported: rests(5.4) },
    ["running", "inbox"],
  ],
  [
    "idle after the answer to a request of its background work",
    { reported: rests(5), turnEnds: ends(5), continuedAt: 6_000, saidAt: 5_500 },
    ["idle", "hook"],
  ],
  [
    "failed, though a hook of the same end is later",
    { turnEnds: [{ at: 5_000, failure: "no login" }], reported: rests(5.4) },
    ["failed", "notice"],
  ],
  [
    "idle after an interrupt by teams",
    { reported: rests(7), interruptedAt: 7_000, tookAt: 6_000, turnEnds: ends(5) },
    ["idle", "interrupt"],
  ],
  [
    "running after a turn in which it took a message",
    { turnEnds: ends(5, 28), tookAt: 10_000, queuedAt: 12_000, reported: rests(27.5) },
    ["running", "inbox"],
  ],
  [
    "running before the notice of such a turn",
    { turnEnds: ends(5), tookAt: 12_000, queuedAt: 12_000, reported: rests(30) },
    ["running", "inbox"],
  ],
  [
    "idle after the turn of that message",
    { turnEnds: ends(5, 28, 30), tookAt: 10_000, queuedAt: 12_000, reported: rests(29.5) },
    ["idle", "hook"],
  ],
  [
    "idle, not guessed to be running, if no message was seen to be taken in a turn",
    { turnEnds: ends(1, 30), taken: at(10, 14), queuedAt: null, reported: rests(30) },
    ["idle", "hook"],
  ],
])("a CLI with hooks › is %s", (_state, facts, expected) => {
  expect(judged({ alive: true, ...facts })).toEqual(expected);
});
