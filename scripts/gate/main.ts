/**
 * `main [--counts | --no-checks] [vitest arguments]`, in the checkout: runs lint, types, layers, cuts and all tests; repeats failed tests
 * alone; and prints everything that failed in its last lines. `--counts` also checks the counts of the short bench; `--no-checks`
 * runs only tests. The results go to the temporary directory of this program.
 */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf } from "../../src/errors.ts";
import { drawSeed } from "../../test/support/random/draw-seed.ts";
import { benchCounts, runCheck } from "./checks.ts";
import { type CheckResult, type Summary, summarize } from "./last-lines.ts";
import { quarantineFlaws, readQuarantine } from "./quarantine.ts";
import { type RunResults, titleOf } from "./results.ts";
import { runVitest } from "./run-vitest.ts";
import { ownAbilities, readSkips, skipFlaws } from "./skips.ts";
import { filesToRepeat, judge, MAX_ATTEMPTS, unsteadyFlaws } from "./verdict.ts";

const OPTIONS = ["--counts", "--no-checks"];

/** Runs everything, and returns the last lines. @throws Error if a list of the gate cannot be read */
function run(words: readonly string[], scratch: string): Summary {
  const selection = words.filter((word) => !OPTIONS.includes(word));
  const quarantine = readQuarantine("test/quarantine.json");
  const skips = readSkips("test/skips.json");
  const checks = words.includes("--no-checks") ? [] : checkSources(scratch);
  if (words.includes("--counts")) checks.push(benchCounts(scratch));

  const quarantined = new Set(quarantine.map(({ test }) => test));
  const attempts = runTests(scratch, selection, quarantined);
  const ran = new Set(attempts.flatMap(({ tests }) => tests.map(titleOf)));
  const isWhole = selection.length === 0;
  const verdict = judge(attempts, quarantined);
  return summarize(checks, verdict, [
    ...quarantineFlaws(quarantine, isWhole ? ran : undefined, Date.now()),
    ...(isWhole && process.env.CI ? skipFlaws(verdict.skipped, skips, ran, ownAbilities()) : []),
    ...unsteadyFlaws(verdict.unsteady),
  ]);
}

function checkSources(scratch: string): CheckResult[] {
  return [
    runCheck(scratch, "lint", "node_modules/.bin/biome", "check", "--error-on-warnings", "."),
    runCheck(scratch, "types", "node_modules/.bin/tsc", "--noEmit"),
    runCheck(scratch, "layers", process.execPath, "scripts/layers.mjs"),
    runCheck(scratch, "cuts", process.execPath, "scripts/cuts.mjs"),
  ];
}

/** Runs the tests, then failed files alone. @returns the results of all attempts */
function runTests(
  scratch: string,
  selection: readonly string[],
  quarantined: ReadonlySet<string>,
): readonly RunResults[] {
  console.log("\n== tests");
  const attempts = [runVitest(scratch, selection)];
  for (let round = 1; round < MAX_ATTEMPTS; round += 1) {
    for (const file of filesToRepeat(attempts, quarantined)) {
      console.log(`\n== once more, alone: ${file}`);
      attempts.push(runVitest(scratch, [file]));
    }
  }
  return attempts;
}

/** Returns the last lines of a gate that could not run. */
function notRun(error: unknown): Summary {
  return summarize([{ name: "gate", flaws: [messageOf(error)] }], judge([], new Set()), []);
}

let summary: Summary;
try {
  const scratch = join(dirname(String(process.argv[1])), "results");
  mkdirSync(scratch);
  drawSeed(process.env);
  summary = run(process.argv.slice(2), scratch);
} catch (error) {
  // The last lines contain only its message.
  console.error(error);
  summary = notRun(error);
}
console.log(`\n${summary.lines.join("\n")}`);
process.exitCode = summary.isGreen ? 0 : 1;
