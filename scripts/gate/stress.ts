/** `stress <test file>… [-n 50] [--load 4]`, in the checkout. The results go to the temporary directory of this program. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { loadavg } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { messageOf } from "../../src/errors.ts";
import { drawSeed } from "../../test/support/random/draw-seed.ts";
import { runVitest } from "./run-vitest.ts";
import { judge } from "./verdict.ts";

const USAGE = "Usage: scripts/stress <test file>… [-n RUNS] [--load BUSY-PROCESSES]";

interface Options {
  readonly files: readonly string[];
  readonly runs: number;
  readonly load: number;
}

function optionsOf(words: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...words],
    options: { n: { type: "string", short: "n", default: "50" }, load: { type: "string", default: "4" } },
    allowPositionals: true,
  });
  const [runs, load] = [Number(values.n), Number(values.load)];
  if (positionals.length === 0) throw new Error("name at least one test file");
  if (!Number.isInteger(runs) || runs < 1) throw new Error("-n must be a positive whole number");
  if (!Number.isInteger(load) || load < 0 || load > 64)
    throw new Error("--load must be a whole number up to 64");
  return { files: positionals, runs, load };
}

/** Runs the files, and returns the number of runs with a failure. */
function stress({ files, runs, load }: Options, scratch: string): number {
  const busy: ChildProcess[] = Array.from({ length: load }, () =>
    spawn(process.execPath, ["-e", `while (process.ppid === ${process.pid});`], { stdio: "ignore" }),
  );
  // This process does not wait for them, and they end with it.
  for (const child of busy) child.unref();
  const failures = new Map<string, { count: number; error: string }>();
  let failedRuns = 0;
  for (let run = 1; run <= runs; run += 1) {
    const { passed, failed } = judge([runVitest(scratch, files)], new Set());
    if (passed + failed.length === 0) throw new Error("no test ran");
    if (failed.length > 0) failedRuns += 1;
    for (const { title, error } of failed)
      failures.set(title, { count: (failures.get(title)?.count ?? 0) + 1, error });
    const counts = `${failed.length} failed tests, ${failedRuns} failed runs so far`;
    console.log(`\nrun ${run} of ${runs}: ${counts}, load ${loadavg()[0]?.toFixed(1)}`);
  }
  for (const [title, { count, error }] of failures)
    console.log(`failed ${count} of ${runs}: ${title}: ${error}`);
  console.log(`${runs - failedRuns} passed, ${failedRuns} failed`);
  return failedRuns;
}

try {
  const scratch = join(dirname(String(process.argv[1])), "results");
  mkdirSync(scratch);
  drawSeed(process.env);
  process.exitCode = stress(optionsOf(process.argv.slice(2)), scratch) === 0 ? 0 : 1;
} catch (error) {
  console.error(`scripts/stress: ${messageOf(error)}\n${USAGE}`);
  process.exitCode = 2;
}
