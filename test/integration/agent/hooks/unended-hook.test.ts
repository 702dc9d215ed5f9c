import { expect, it } from "vitest";
import { script } from "../../../support/processes/script-process.ts";

const run = script("processes/run-unended-hook", ["sh", "-c", 'ulimit -n 100; exec "$@"', "sh"]);
const UNENDED = "could not be ended, and may still run: ";

it.each([
  ["Stop", undefined],
  ["PreToolUse", expect.stringContaining("which counts as a refusal")],
])("Hooks.run › reports a %s hook that it cannot end, and does not reject", async (event, stopped) => {
  const { stopped: outcome, notices } = JSON.parse(await run(event).line());
  expect(outcome).toEqual(stopped);
  expect(notices).toEqual([expect.stringContaining(UNENDED)]);
});
