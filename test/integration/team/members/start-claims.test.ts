import { expect, test } from "vitest";
import { ownIdentity } from "../../../../src/os/process/identity.ts";
import { readMetadata, withMetadata } from "../../../../src/schema/member-metadata.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { readTeam, updateTeam } from "../../../../src/team/config/config.ts";
import { findMember } from "../../../../src/team/members/members.ts";
import {
  claimStarts,
  hasStartClaim,
  keepsOnExit,
  releaseStartClaims,
  remainingStartMs,
  setKeepOnExit,
} from "../../../../src/team/members/start-claims.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { testTeam } from "../../../support/team/test-team.ts";

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

test("claimStarts › gives each member to exactly one of several concurrent callers", async () => {
  const ref = await testTeam(["dev", "ada", "bob"]);
  const isDown = ({ name }: { name: string }) => (name === LEAD_NAME ? undefined : { session: `of-${name}` });
  const all = await Promise.all(Array.from({ length: 8 }, () => claimStarts(ref, isDown)));
  expect(all.flatMap((claims) => [...claims.keys()]).sort()).toEqual(["ada", "bob", "dev"]);
  expect(readMetadata(memberIn(ref, "dev"), "startClaim")).toMatchObject({
    session: "of-dev",
    by: { pid: process.pid },
  });
});

test.each([
  ["a live process just now", () => ownIdentity(), 0, false],
  ["a live process, longer ago than any start takes", () => ownIdentity(), 61_000, true],
  ["a dead process", () => ({ ...ownIdentity(), procStart: "1" }), 0, true],
  ["a process of another machine just now", () => ({ ...ownIdentity(), pidSpace: "elsewhere#1" }), 0, false],
  [
    "a process of another machine, longer ago",
    () => ({ ...ownIdentity(), pidSpace: "elsewhere#1" }),
    61_000,
    true,
  ],
])("claimStarts › respects or takes over a start claimed by %s", async (_who, by, age, taken) => {
  const ref = await testTeam(["dev"]);
  await begunBy(ref, by(), Date.now() - age);
  expect(hasStartClaim(memberIn(ref, "dev"))).toBe(!taken);
  const claims = await claimStarts(ref, ({ name }) => (name === "dev" ? { session: "s" } : undefined));
  expect([...claims.keys()]).toEqual(taken ? ["dev"] : []);
  if (taken) expect(claims.get("dev")).toMatchObject({ begun: "the-first", session: "s" });
  expect(memberIn(ref, "dev").metadata?.mine).toBe(1);
});

test("claimStarts › records the session in the same change, and a failed start keeps it", async () => {
  const ref = await testTeam(["dev", "ada"]);
  const sessions = () => ["dev", "ada"].map((name) => readMetadata(memberIn(ref, name), "session"));
  const isDown = ({ name }: { name: string }) =>
    name === LEAD_NAME ? undefined : { session: name === "dev" ? "its-conversation" : undefined };
  const claims = await claimStarts(ref, isDown);
  const [dev, ada] = sessions();
  expect([dev, ada]).toEqual(["its-conversation", expect.stringMatching(/^[\w-]{36}$/)]);
  await releaseStartClaims(ref, claims, new Map());
  expect(sessions()).toEqual([dev, ada]);
  // A member without a conversation gets the same id again.
  await claimStarts(ref, ({ name }) => (name === "ada" ? { session: undefined } : undefined));
  expect(sessions()).toEqual([dev, ada]);
});

test("releaseStartClaims › changes nothing for a claim that was taken over", async () => {
  const ref = await testTeam(["dev"]);
  await begunBy(ref, { ...ownIdentity(), procStart: "1" });
  const [first, second] = [
    readMetadata(memberIn(ref, "dev"), "startClaim"),
    await claimStarts(ref, down("s")),
  ];
  if (first === undefined) throw new Error("There is no claim.");
  const late = await releaseStartClaims(
    ref,
    new Map([["dev", first]]),
    new Map([["dev", { tmuxPaneId: "%7" }]]),
  );
  expect([...late]).toEqual([]);
  expect(readMetadata(memberIn(ref, "dev"), "startClaim")?.instance).toBe(second.get("dev")?.instance);
});

test("releaseStartClaims › records a successful start, and restores a failed one", async () => {
  const ref = await testTeam(["dev", "ada"]);
  const names = new Set(["dev", "ada"]);
  await setKeepOnExit(ref, names, true);
  await updateTeam(ref, (config) => ({
    ...config,
    hiddenPaneIds: ["%1", "%9"],
    members: config.members.map((one) =>
      names.has(one.name) ? withMetadata({ ...one, tmuxPaneId: "%1" }, { tasksToRestore: ["1", "2"] }) : one,
    ),
  }));
  const claims = await claimStarts(ref, ({ name }) => (names.has(name) ? { session: undefined } : undefined));
  const place = { tmuxPaneId: "%7", backendType: "tmux" };
  expect(await releaseStartClaims(ref, claims, new Map([["dev", place]]))).toEqual(names);
  expect(memberIn(ref, "dev")).toMatchObject(place);
  expect(memberIn(ref, "dev").metadata).toEqual({ _session: expect.stringMatching(/^[\w-]{36}$/) });
  const ada = memberIn(ref, "ada");
  expect([
    ada.tmuxPaneId,
    keepsOnExit(ada),
    readMetadata(ada, "tasksToRestore"),
    readMetadata(ada, "startClaim"),
  ]).toEqual(["%1", true, ["1", "2"], undefined]);
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
  expect([readMetadata(dev, "startClaim"), readMetadata(dev, "tasksToRestore"), keepsOnExit(dev)]).toEqual([
    undefined,
    ["2"],
    false,
  ]);
});

test.each([
  ["just now", 0, 30_000],
  ["a while ago", 10_000, 20_000],
  ["long ago", 3_600_000, 0],
  ["in the future, since the clock was set back", -3_600_000, 30_000],
])("remainingStartMs › is at most the time of a start for a start claimed %s", (_when, age, left) => {
  expect(remainingStartMs({ at: 5_000_000 - age }, 30_000, 5_000_000)).toBe(left);
});
