import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Figure } from "../bench/figure.ts";
import { format } from "../bench/table.ts";
import type { CheckResult } from "./last-lines.ts";

/** Runs a check with its output on this terminal. */
export function runCheck(name: string, program: string, ...args: readonly string[]): CheckResult {
  console.log(`\n== ${name}`);
  const { status, signal, error } = spawnSync(program, args, { stdio: "inherit" });
  if (status === 0) return { name, flaws: [] };
  return { name, flaws: [error?.message ?? `${endOf(status, signal)}, see "== ${name}" above`] };
}

/** Runs the short bench. Only its counts decide. */
export function benchCounts(scratch: string): CheckResult {
  const file = join(scratch, "bench.json");
  const ended = runCheck("bench", "scripts/bench/run", "--short", "--json", file);
  if (ended.flaws.length === 0 || !existsSync(file)) return ended;
  const { figures } = JSON.parse(readFileSync(file, "utf8")) as { readonly figures: readonly Figure[] };
  const flaws = figures.flatMap(({ what, value, unit, goal }) =>
    goal?.isCount && !goal.met ? [`${what}: ${format(value, unit)}, the limit is ${goal.text}`] : [],
  );
  return { name: "bench", flaws: flaws.length > 0 ? flaws : ended.flaws };
}

function endOf(status: number | null, signal: string | null): string {
  return status === null ? `ended by ${signal}` : `exit status ${status}`;
}
