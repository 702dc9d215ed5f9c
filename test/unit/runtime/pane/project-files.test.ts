import { expect, onTestFinished, test, vi } from "vitest";
import { messageOf } from "../../../../src/errors.ts";
import { projectFiles } from "../../../../src/runtime/pane/project-files.ts";
import { eventually } from "../../../support/timing/eventually.ts";

const disk = vi.hoisted(() => ({ listings: 0 }));

vi.mock("../../../../src/agent/tools/list-files.ts", () => ({
  listFiles: (_directory: string, { signal }: { readonly signal: AbortSignal }) => {
    disk.listings += 1;
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  },
}));

test("projectFiles › reports once that a slow disk takes too long, and lists its files again later", async () => {
  let now = process.hrtime.bigint();
  const clock = vi.spyOn(process.hrtime, "bigint").mockImplementation(() => now);
  onTestFinished(() => clock.mockRestore());
  const problems: string[] = [];
  const problem = (error: unknown): void => void problems.push(messageOf(error));
  const files = projectFiles({ cwd: "/w", env: {}, problem, limitMs: 1 });
  // Each listing begins after the end of the previous listing.
  await eventually("the third listing", () => {
    now += 60_000_000_000n;
    expect(files.like("clo", 9, () => undefined)).toEqual([]);
    return disk.listings === 3;
  });
  expect(problems).toEqual([
    "The files of /w could not be listed within 0.001 s. @ still completes a path part by part.",
  ]);
});
