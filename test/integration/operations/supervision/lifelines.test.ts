import { readdirSync, readlinkSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { Lifelines } from "../../../../src/operations/supervision/lifelines.ts";
import { ensureRuntimeDirectory } from "../../../../src/os/files/app-directories.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { makeFifos } from "../../../../src/wakeup/fifo-bell.ts";
import { holdLifeline } from "../../../../src/wakeup/lifeline.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

/** More than Node allows as listeners of one emitter without a warning. */
const MANY = 14;

/** Opens the lifelines of members whose launch scripts this test replaces. @returns a function that ends all scripts at once */
async function followed(
  names: readonly string[],
): Promise<{ lines: Lifelines; end: () => Promise<unknown> }> {
  const ref = await testTeam(names);
  const paths = names.map((name) => ref.paths.agent(name));
  for (const { runtime } of paths) ensureRuntimeDirectory(runtime);
  const fifos = paths.map(({ lifeline }) => lifeline);
  await makeFifos(fifos);
  const held = fifos.map(holdLifeline);
  const lines = new Lifelines(contextOf(ref, LEAD_NAME));
  onTestFinished(() => lines.bell.close());
  lines.follow();
  const end = (): Promise<unknown> => {
    for (const one of held) one.close();
    return eventually("each end to be handled", () => !openFiles().some((path) => fifos.includes(path)));
  };
  return { lines, end };
}

/** Lists the files that this process has open. */
function openFiles(): string[] {
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      // The descriptor of this directory listing is already closed.
      return [];
    }
  });
}

it.runIf(process.platform === "linux")(
  "lifelines › ring four times after an end: the agent may end a moment after its launch script",
  async () => {
    const { lines, end } = await followed(["dev"]);
    const ended = end();
    for (let rings = 0; rings < 4; rings += 1) expect(await lines.bell.wait()).toBe("rung");
    await ended;
  },
);

it.runIf(process.platform === "linux")(
  "lifelines › cause no Node warning when many members end at once",
  async () => {
    const warnings: string[] = [];
    const onWarning = ({ message }: Error): void => void warnings.push(message);
    process.on("warning", onWarning);
    onTestFinished(() => void process.off("warning", onWarning));
    const { lines, end } = await followed(Array.from({ length: MANY }, (_, n) => `dev-${n}`));
    await end();
    expect(await lines.bell.wait()).toBe("rung");
    expect(warnings).toEqual([]);
  },
);
