import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readPlace, readStatus } from "../../../../src/team/records/read-records.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { supervisedTeam } from "../../../support/team/supervised-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";

it("in-process teammate › does not write its status again after it was given up", async () => {
  const begun = join(temporaryDirectory(), "begun");
  const command = `trap '' TERM; touch '${begun}'; while :; do sleep 0.05; done`;
  const { ref, ctx, spawn, send } = await supervisedTeam("the lead's process", {
    ada: [{ tools: [{ name: "Bash", input: { command } }] }, { say: "done", repeat: true }],
  });
  await spawn("ada");
  await send("ada", "begin");
  await eventually("its command", () => existsSync(begun));
  const place = readPlace(ref, "ada");
  if (place === undefined) throw new Error("ada has no place record.");
  expect(await ctx.backends.of("in-process")?.end?.(place, 0)).toEqual([process.pid]);
  const before = readStatus(ref, "ada");
  expect(before?.state).toBe("running");
  const isOver = (): boolean =>
    readFileSync(ref.paths.events, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .some(({ type, what, agentId }) => type === "agent" && what === "ended" && agentId === "ada@crew");
  // The agent's code returns later, and reports its end everywhere except in the status.
  await eventually("the return of its code", isOver);
  expect(readStatus(ref, "ada")).toEqual(before);
});
