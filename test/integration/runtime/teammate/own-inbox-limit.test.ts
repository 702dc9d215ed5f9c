import { afterEach, expect, test, vi } from "vitest";
import { OwnInboxLimit } from "../../../../src/runtime/teammate/own-inbox-limit.ts";
import { peekInbox } from "../../../../src/team/inbox/inbox-file.ts";
import { joinByHand } from "../../../support/team/foreign-peer.ts";
import { testTeam } from "../../../support/team/test-team.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

test("a claude at its account's limit › continues a random moment after its end, so that not all do at once", async () => {
  vi.spyOn(Math, "random").mockReturnValue(0.5);
  const ref = await testTeam();
  await joinByHand(ref, "ada");
  const limit = new OwnInboxLimit({
    ref,
    name: "ada",
    account: { account: "a", model: "m" },
    autoResume: () => true,
  });
  const at = Date.now();
  const failure = "You've hit your session limit. Try again in 100 seconds.";
  const facts = { turnEnds: [{ at, failure }] } as unknown as Parameters<typeof limit.look>[1];
  const verdict = { state: "failed", stateFrom: "notice", failure, alive: true } as const;
  const texts = (): string => JSON.stringify(peekInbox(ref, "ada"));
  expect(await limit.look(verdict, facts, at)).toMatchObject({ state: "paused", pausedUntil: at + 100_000 });
  expect(await limit.look(verdict, facts, at + 104_999)).toMatchObject({ state: "paused" });
  expect(limit.nextLook(at + 104_000, 10_000)).toBe(1_000);
  expect(texts()).not.toContain("limit of your account has ended");
  expect(await limit.look(verdict, facts, at + 105_000)).toBeUndefined();
  expect(texts()).toContain("limit of your account has ended");
});
