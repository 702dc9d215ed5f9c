import { expect, test } from "vitest";
import { ownIdentity } from "../../../../src/os/process/identity.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { readTeam, updateTeam } from "../../../../src/team/config/config.ts";
import { findMember } from "../../../../src/team/members/members.ts";
import {
  claimRestarts,
  finishRestarts,
  heldTasks,
  isBeingRestarted,
  restartOf,
  setStays,
  staysAtItsEnd,
  withHeldTasks,
} from "../../../../src/team/members/start-claims.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { testTeam } from "../../../support/team.ts";

const down = (session?: string) => () => ({ session });
const memberIn = (ref: TeamRef, name: string) => findMember(readTeam(ref), name);

async function begunBy(ref: TeamRef, by: object, at = Date.now()): Promise<void> {
  const claim = { instance: "the-first", session: "its-conversation", by, at };
  await updateTeam(ref, (config) => ({
    ...config,
    members: config.members.map((one) =>
      one.name === "dev" ? { ...one, metadata: { mine: 1, _restart: claim } } : one,
    ),
  }));
}

test("claimRestarts › gives each member to exactly one of several concurrent callers", async () => {
  const ref = await testTeam(["dev", "ada", "bob"]);
  const isDown = ({ name }: { name: string }) => (name === LEAD_NAME ? undefined : { session: `of-${name}` });
  const all = await Promise.all(Array.from({ length: 8 }, () => claimRestarts(ref, isDown)));
  expect(all.flatMap((claims) => [...claims.keys()]).sort()).toEqual(["ada", "bob", "dev"]);
  expect(restartOf(memberIn(ref, "dev"))).toMatchObject({ session: "of-dev", by: { pid: process.pid } });
});

test.each([
  ["a live process just now", () => ownIdentity(), 0, false],
  ["a live process, longer ago than any start takes", () => ownIdentity(), 61_000, true],
  ["a dead process", () => ({ ...ownIdentity(), procStart: "1" }), 0, true],
  ["a process of another machine just now", () => ({ ...ownIdentity(), pidSpace: "elsewhere" }), 0, false],
  [
    "a process of another machine, longer ago",
    () => ({ ...ownIdentity(), pidSpace: "elsewhere" }),
    61_000,
    true,
  ],
])("claimRestarts › respects or takes over a restart claimed by %s", async (_who, by, age, taken) => {
  const ref = await testTeam(["dev"]);
  await begunBy(ref, by(), Date.now() - age);
  expect(isBeingRestarted(memberIn(ref, "dev"))).toBe(!taken);
  const claims = await claimRestarts(ref, ({ name }) => (name === "dev" ? { session: "s" } : undefined));
  expect([...claims.keys()]).toEqual(taken ? ["dev"] : []);
  if (taken) expect(claims.get("dev")).toMatchObject({ begun: "the-first", session: "s" });
  expect(memberIn(ref, "dev").metadata?.mine).toBe(1);
});

test("finishRestarts › changes nothing for a claim that was taken over", async () => {
  const ref = await testTeam(["dev"]);
  await begunBy(ref, { ...ownIdentity(), procStart: "1" });
  const [first, second] = [restartOf(memberIn(ref, "dev")), await claimRestarts(ref, down("s"))];
  if (first === undefined) throw new Error("There is no claim.");
  const late = await finishRestarts(ref, new Map([["dev", first]]), new Map([["dev", { tmuxPaneId: "%7" }]]));
  expect([...late]).toEqual([]);
  expect(restartOf(memberIn(ref, "dev"))?.instance).toBe(second.get("dev")?.instance);
});

test("finishRestarts › records a successful start, and restores a failed one", async () => {
  const ref = await testTeam(["dev", "ada"]);
  const names = new Set(["dev", "ada"]);
  await setStays(ref, names, true);
  await updateTeam(ref, (config) => ({
    ...config,
    hiddenPaneIds: ["%1", "%9"],
    members: config.members.map((one) =>
      names.has(one.name) ? withHeldTasks({ ...one, tmuxPaneId: "%1" }, ["1", "2"]) : one,
    ),
  }));
  const claims = await claimRestarts(ref, ({ name }) =>
    names.has(name) ? { session: undefined } : undefined,
  );
  const place = { tmuxPaneId: "%7", backendType: "tmux" };
  expect(await finishRestarts(ref, claims, new Map([["dev", place]]))).toEqual(names);
  expect(memberIn(ref, "dev")).toMatchObject(place);
  expect(memberIn(ref, "dev").metadata).toBeUndefined();
  const ada = memberIn(ref, "ada");
  expect([ada.tmuxPaneId, staysAtItsEnd(ada), heldTasks(ada), restartOf(ada)]).toEqual([
    "%1",
    true,
    ["1", "2"],
    undefined,
  ]);
  expect(readTeam(ref).hiddenPaneIds).toEqual(["%9"]);
});

test("restart records › of a wrong shape are ignored", async () => {
  const ref = await testTeam(["dev"]);
  await updateTeam(ref, (config) => ({
    ...config,
    members: config.members.map((one) => ({
      ...one,
      metadata: { _restart: { instance: 1 }, _held: [1, "2", null], _stays: "yes" },
    })),
  }));
  const dev = memberIn(ref, "dev");
  expect([restartOf(dev), heldTasks(dev), staysAtItsEnd(dev)]).toEqual([undefined, ["2"], false]);
});
