import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { RunResults } from "./results.ts";

/**
 * Runs tests, with their output on this terminal.
 * @param args of vitest; none for all tests
 */
export function runVitest(scratch: string, args: readonly string[]): RunResults {
  const file = join(scratch, "tests.json");
  rmSync(file, { force: true });
  const words = ["run", "--config", "test/vitest.config.ts", "--reporter=default"];
  const { status, signal } = spawnSync(
    process.execPath,
    ["node_modules/vitest/vitest.mjs", ...words, "--reporter=./scripts/gate/reporter.ts", ...args],
    { stdio: ["ignore", "inherit", "inherit"], env: { ...process.env, GATE_RESULTS: file } },
  );
  const end = signal ?? `exit status ${status}`;
  if (!existsSync(file)) return { tests: [], errors: [{ error: `vitest ended without results (${end})` }] };
  const results = JSON.parse(readFileSync(file, "utf8")) as RunResults;
  const isExplained =
    signal === null && (results.errors.length > 0 || results.tests.some(({ state }) => state === "failed"));
  if (status === 0 || isExplained) return results;
  const error = { error: `vitest failed without an error of a test (${end})` };
  return { ...results, errors: [...results.errors, error] };
}
