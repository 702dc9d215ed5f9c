import { expect, it, onTestFinished } from "vitest";
import { Lifelines } from "../../../../src/operations/supervision/lifelines.ts";
import { ensureRuntimeDirectory } from "../../../../src/os/files/app-directories.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { makeFifos } from "../../../../src/wakeup/fifo-bell.ts";
import { holdLifeline } from "../../../../src/wakeup/lifeline.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

/** More than Node allows as listeners of one emitter without a warning. */
const MANY = 14;

it("lifelines › start one series of checks when many members end at once, without a Node warning", async () => {
  const names = Array.from({ length: MANY }, (_, n) => `dev-${n}`);
  const ref = await testTeam(names);
  const paths = names.map((name) => ref.paths.agent(name));
  for (const { runtime } of paths) ensureRuntimeDirectory(runtime);
  await makeFifos(paths.map(({ lifeline }) => lifeline));
  const held = paths.map(({ lifeline }) => holdLifeline(lifeline));
  const said: string[] = [];
  const hear = ({ message }: Error): void => void said.push(message);
  process.on("warning", hear);
  onTestFinished(() => void process.off("warning", hear));
  const lines = new Lifelines(contextOf(ref, LEAD_NAME));
  onTestFinished(() => lines.bell.close());
  lines.follow();
  for (const one of held) one.close();
  // One immediate check, and three more after the last end.
  for (let rings = 0; rings < 4; rings += 1) expect(await lines.bell.wait()).toBe("rung");
  expect(said).toEqual([]);
});
