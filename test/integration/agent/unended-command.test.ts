import { expect, it } from "vitest";
import { script } from "../../support/processes/script-process.ts";

const run = script("processes/run-unended-command", ["sh", "-c", 'ulimit -n 100; exec "$@"', "sh"]);
const outcomeOf = async (what: string): Promise<unknown> => JSON.parse(await run(what).line());

it.each([
  ["Stop", undefined],
  ["PreToolUse", expect.stringContaining("which counts as a refusal")],
])("Hooks.run › reports a %s hook that it cannot end, and does not reject", async (event, stopped) => {
  const notice = expect.stringContaining("could not be ended, and may still run: ");
  expect(await outcomeOf(event)).toEqual({ stopped, notices: [notice] });
});

it("Bash › says that a command may still run in its sandbox if it cannot be ended", async () => {
  const error = expect.stringMatching(/^The command could not be ended, and may still run: ./);
  expect(await outcomeOf("Bash")).toEqual({ error });
});
