import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { follow } from "../../../src/operations/follow-team.ts";
import { testTeam } from "../../support/team/test-team.ts";

const HOUR_MS = 3_600_000;
/** Less than the jump of the clock, and longer than a machine stalls. */
const LIMIT_MS = 600_000;

/** Moves the wall clock of this process. */
function wallClock(): (ms: number) => void {
  const { now } = Date;
  let ahead = 0;
  const spy = vi.spyOn(Date, "now").mockImplementation(() => now() + ahead);
  onTestFinished(() => spy.mockRestore());
  return (ms) => {
    ahead += ms;
  };
}

it("follow › does not time out when the wall clock is set forward", async () => {
  const ref = await testTeam();
  const advance = wallClock();
  const { signal } = new AbortController();
  let checks = 0;
  const check = (): boolean => {
    checks += 1;
    if (checks > 1) return true;
    advance(HOUR_MS);
    writeFileSync(join(ref.paths.dir, "news"), "");
    return false;
  };
  expect([await follow(ref, check, { signal, timeoutMs: LIMIT_MS }), checks]).toEqual(["done", 2]);
});
