/**
 * `main [--counts | --no-checks] [vitest arguments]`, in the checkout: runs lint, types, layers, cuts and all tests; repeats failed tests
 * alone; and prints everything that failed in its last lines. `--counts` also checks the counts of the short bench; `--no-checks`
 * runs only tests. Its directory is temporary.
 */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { drawSeed } from "../../test/support/random/draw-seed.ts";
import { benchCounts, runCheck } from "./checks.ts";
import { summarize } from "./last-lines.ts";
import { quarantineFlaws, readQuarantine } from "./quarantine.ts";
import { titleOf } from "./results.ts";
import { runVitest } from "./run-vitest.ts";
import { readSkips, skipFlaws } from "./skips.ts";
import { filesToRepeat, judge, MOST_TRIES, unsteadyFlaws } from "./verdict.ts";

const OPTIONS = ["--counts", "--no-checks"];

const options = process.argv.slice(2).filter((word) => OPTIONS.includes(word));
const selection = process.argv.slice(2).filter((word) => !OPTIONS.includes(word));
const scratch = join(dirname(String(process.argv[1])), "results");
mkdirSync(scratch);

drawSeed(process.env);
const quarantine = readQuarantine("test/quarantine.json");
const skips = readSkips("test/skips.json");
const quarantined = new Set(quarantine.map(({ test }) => test));

const checks = options.includes("--no-checks")
  ? []
  : [
      runCheck(scratch, "lint", "node_modules/.bin/biome", "check", "--error-on-warnings", "."),
      runCheck(scratch, "types", "node_modules/.bin/tsc", "--noEmit"),
      runCheck(scratch, "layers", process.execPath, "scripts/layers.mjs"),
      runCheck(scratch, "cuts", process.execPath, "scripts/cuts.mjs"),
    ];
if (options.includes("--counts")) checks.push(benchCounts(scratch));

console.log("\n== tests");
const tries = [runVitest(scratch, selection)];
for (let round = 1; round < MOST_TRIES; round += 1) {
  for (const file of filesToRepeat(tries, quarantined)) {
    console.log(`\n== once more, alone: ${file}`);
    tries.push(runVitest(scratch, [file]));
  }
}

const ran = new Set(tries.flatMap(({ tests }) => tests.map(titleOf)));
const isWhole = selection.length === 0;
const verdict = judge(tries, quarantined);
const { lines, isGreen } = summarize(checks, verdict, [
  ...quarantineFlaws(quarantine, isWhole ? ran : undefined, Date.now()),
  ...(isWhole && process.env.CI ? skipFlaws(verdict.skipped, skips, ran) : []),
  ...unsteadyFlaws(verdict.unsteady),
]);
console.log(`\n${lines.join("\n")}`);
process.exitCode = isGreen ? 0 : 1;
