import { expect, test } from "vitest";
import { teamRef, teamsHome } from "../../../../src/team/ref.ts";
import { cliIn } from "../../../support/processes/in-process-cli.ts";
import { joinByHand, peerSays } from "../../../support/team/foreign-peer.ts";

async function limited(failureReason: string, at = Date.now()) {
  const cli = cliIn();
  await cli(["create", "crew"]);
  const ref = teamRef(teamsHome(cli.env), "crew");
  await joinByHand(ref, "ada", { joinedAt: at - 1_000 });
  peerSays(ref, "ada", { type: "idle_notification", idleReason: "failed", failureReason }, at);
  const ada = async () =>
    (
      JSON.parse((await cli(["status", "--team", "crew", "--json"])).out) as { members: { name: string }[] }
    ).members.find(({ name }) => name === "ada");
  return { cli, ada };
}

test("a claude that a person started › is paused while its account's limit lasts, and a person resumes it", async () => {
  const { cli, ada } = await limited("You've hit your session limit. Try again in 100 seconds.");
  const seen = await ada();
  expect(seen).toMatchObject({ state: "paused", stateFrom: "notice" });
  expect(seen).toMatchObject({
    activity: expect.stringContaining("account limit, until"),
    pausedUntil: expect.any(String),
  });
  const resumed = await cli(["resume", "--now", "ada@crew"]);
  expect(resumed.code).toBe(0);
  expect((await cli(["inbox", "ada@crew", "--json"])).out).toContain("limit of your account has ended");
});

test("a claude that a person started › is paused at a limit whose end is unknown", async () => {
  const { ada } = await limited("You have hit your weekly limit");
  expect(await ada()).toMatchObject({
    state: "paused",
    activity: expect.stringContaining("waits for teams resume --now"),
  });
});

test.each([
  ["its limit has ended", "You've hit your session limit. Try again in 10 seconds.", 60_000],
  ["it failed for another reason", "Not logged in · Please run /login", 0],
])("a claude that a person started › has failed when %s", async (_when, reason, ago) => {
  const { ada } = await limited(reason, Date.now() - ago);
  expect(await ada()).toMatchObject({ state: "failed", stateFrom: "notice" });
});
