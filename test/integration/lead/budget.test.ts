import { expect, it } from "vitest";
import { budget } from "../../../src/lead/budget.ts";
import { setLimits } from "../../../src/team/budget.ts";
import { testTeam } from "../../support/team.ts";
import { contextOf } from "../../support/worker.ts";

const priced = (): boolean => true;

it("a budget is set by a person alone, not by a lead's model or a teammate, who may look at it", async () => {
  const ref = await testTeam(["dev"]);
  await setLimits(ref, "dev", { maxTokens: 100 });
  for (const [actor, decider, code] of [
    ["team-lead", "model", "PERMISSION_DENIED"],
    ["dev", "person", "NOT_LEAD"],
  ] as const)
    await expect(
      budget(contextOf(ref, actor), "dev", { maxTokens: 500 }, priced, decider),
    ).rejects.toMatchObject({
      code,
    });
  const seen = await budget(contextOf(ref, "dev"), "dev", {}, priced, "model");
  expect(seen).toEqual({ name: "dev", limits: { maxTokens: 100 }, spent: { tokens: 0, costUsd: 0 } });
  expect((await budget(contextOf(ref), "dev", { maxTokens: 500 }, priced)).limits).toEqual({
    maxTokens: 500,
  });
});
