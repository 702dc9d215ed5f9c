import { mkdirSync, rmdirSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { OwnInboxLimit } from "../../../../src/runtime/teammate/own-inbox-limit.ts";
import { peekInbox } from "../../../../src/team/inbox/inbox-file.ts";
import { joinByHand } from "../../../support/team/foreign-peer.ts";
import { testTeam } from "../../../support/team/test-team.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const failure = "You've hit your session limit. Try again in 100 seconds.";
const verdict = { state: "failed", stateFrom: "notice", failure, alive: true } as const;

async function limited(version: string) {
  vi.spyOn(Math, "random").mockReturnValue(0.5);
  const ref = await testTeam();
  await joinByHand(ref, "ada");
  const limit = new OwnInboxLimit({
    ref,
    name: "ada",
    account: { account: "a", model: "m" },
    version,
    autoResume: () => true,
  });
  const factsAt = (at: number) =>
    ({ turnEnds: [{ at, failure }] }) as unknown as Parameters<typeof limit.poll>[1];
  const texts = (name = "ada"): string => JSON.stringify(peekInbox(ref, name));
  return { ref, limit, factsAt, texts };
}

test("a claude at its account's limit › continues at a random moment after the limit ends, so that agents do not all start at once", async () => {
  const { limit, factsAt, texts } = await limited("2.1.200");
  const at = Date.now();
  const facts = factsAt(at);
  expect(await limit.poll(verdict, facts, at)).toMatchObject({ state: "paused", pausedUntil: at + 100_000 });
  expect(await limit.poll(verdict, facts, at + 104_999)).toMatchObject({ state: "paused" });
  expect(limit.nextPoll(at + 104_000, 10_000)).toBe(1_000);
  expect(texts()).not.toContain("limit of your account has ended");
  expect(await limit.poll(verdict, facts, at + 105_000)).toBeUndefined();
  expect(texts()).toContain("limit of your account has ended");
});

test("a claude at its account's limit › gets no message if its version continues on its own", async () => {
  const { limit, factsAt, texts } = await limited("2.1.234");
  const at = Date.now();
  const facts = factsAt(at);
  await limit.poll(verdict, facts, at);
  expect(await limit.poll(verdict, facts, at + 105_000)).toMatchObject({ state: "paused" });
  const running = { state: "running", stateFrom: "hook", alive: true } as const;
  expect(await limit.poll(running, facts, at + 106_000)).toBeUndefined();
  expect(texts()).not.toContain("limit of your account has ended");
});

test("a claude at its account's limit › gets a message if it does not continue on its own after all", async () => {
  const { limit, factsAt, texts } = await limited("2.1.332");
  const at = Date.now();
  const facts = factsAt(at);
  await limit.poll(verdict, facts, at);
  expect(await limit.poll(verdict, facts, at + 165_000)).toBeUndefined();
  expect(texts()).toContain("limit of your account has ended");
});

test("a claude at its account's limit › notifies the lead again of a limit after a turn without one", async () => {
  const { limit, factsAt, texts } = await limited("2.1.200");
  const at = Date.now();
  const notices = (): number =>
    texts("team-lead").split("limit of the model's account is reached").length - 1;
  await limit.poll(verdict, factsAt(at), at);
  await limit.poll(verdict, factsAt(at + 1_000), at + 1_000);
  expect(notices()).toBe(1);
  const idle = { state: "idle", stateFrom: "hook", alive: true } as const;
  await limit.poll(idle, factsAt(at + 2_000), at + 2_000);
  await limit.poll(verdict, factsAt(at + 3_000), at + 3_000);
  expect(notices()).toBe(2);
});

test("a claude at its account's limit › waits no longer because its lead could not be notified at once", async () => {
  const { ref, limit, factsAt } = await limited("2.1.200");
  const at = Date.now();
  const withoutEnd = { ...verdict, failure: "You've hit your session limit." };
  // A directory cannot be written, even by root.
  const inbox = ref.paths.inbox("team-lead");
  mkdirSync(inbox, { recursive: true });
  for (let poll = 0; poll < 3; poll += 1)
    await expect(limit.poll(withoutEnd, factsAt(at), at)).rejects.toThrow();
  rmdirSync(inbox);
  expect(await limit.poll(withoutEnd, factsAt(at), at)).toMatchObject({ state: "paused" });
  // Five minutes, and half of the random part.
  expect(limit.nextPoll(at, Number.POSITIVE_INFINITY)).toBe(315_000);
});
