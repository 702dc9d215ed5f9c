import { spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { BenchResults } from "../bench/figure.ts";
import { format } from "../bench/table.ts";
import type { CheckResult } from "./last-lines.ts";

/** Number of output lines of a failed check that are repeated at the end of the run: the output itself is far above. */
const LAST_LINES = 20;

/** Runs a check, and prints its output. @param scratch a directory for its output */
export function runCheck(
  scratch: string,
  name: string,
  program: string,
  ...args: readonly string[]
): CheckResult {
  console.log(`\n== ${name}`);
  const file = join(scratch, `${name}.txt`);
  // One file keeps the order of both streams.
  const output = openSync(file, "w");
  const { status, signal, error } = spawnSync(program, args, { stdio: ["ignore", output, output] });
  closeSync(output);
  const text = readFileSync(file, "utf8");
  process.stdout.write(text);
  if (status === 0) return { name, flaws: [] };
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const last = lines.slice(-LAST_LINES).map((line) => `\n    ${line}`);
  return { name, flaws: [`${error?.message ?? endOf(status, signal)}${last.join("")}`] };
}

/** Runs the short bench. It fails if a count misses its limit, or if a bench fails twice. */
export function benchCounts(scratch: string): CheckResult {
  const file = join(scratch, "bench.json");
  rmSync(file, { force: true });
  const ended = runCheck(scratch, "bench", "scripts/bench/run", "--short", "--json", file);
  if (!existsSync(file)) return ended;
  const { figures, failed, unsteady } = JSON.parse(readFileSync(file, "utf8")) as BenchResults;
  const flaws = [
    ...figures.flatMap(({ what, value, unit, goal }) =>
      goal?.isCount && !goal.met ? [`${what}: ${format(value, unit)}, the limit is ${goal.text}`] : [],
    ),
    ...failed.map(({ bench, error }) => `${bench} failed twice: ${error}`),
  ];
  return {
    name: "bench",
    flaws: flaws.length > 0 ? flaws : ended.flaws,
    unsteady: unsteady.map(({ bench, error }) => `${bench}: ${error}`),
  };
}

function endOf(status: number | null, signal: string | null): string {
  return status === null ? `ended by ${signal}` : `exit status ${status}`;
}
