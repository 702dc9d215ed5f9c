import { messageOf } from "../errors.ts";

/** One line of the doctor's report. */
export interface Finding {
  /** The subject of the check: `tmux`, `runtime directory`. */
  readonly name: string;
  /** `warn`: teams works, but less well. `fail`: something does not work. */
  readonly level: "ok" | "warn" | "fail";
  /** The result of the check. */
  readonly text: string;
  /** The next step for the user; missing for `ok`. */
  readonly remedy?: string;
}

export function ok(name: string, text: string): Finding {
  return { name, level: "ok", text };
}

export function warn(name: string, text: string, remedy: string): Finding {
  return { name, level: "warn", text, remedy };
}

export function fail(name: string, text: string, remedy: string): Finding {
  return { name, level: "fail", text, remedy };
}

/**
 * Runs a check that may throw. An error becomes a finding, and the other checks still run.
 * @param remedy what to do so that the check can run
 */
export async function attempt(
  name: string,
  check: () => Finding | Promise<Finding | readonly Finding[]>,
  remedy: string,
): Promise<readonly Finding[]> {
  try {
    return [await check()].flat();
  } catch (error) {
    return [fail(name, `cannot be checked: ${messageOf(error)}`, remedy)];
  }
}

/** A problem with a team's files. */
export interface Problem {
  /** `fail`: something cannot be read. `warn`: everything works, but the problem should be repaired. */
  readonly level: "warn" | "fail";
  /** A description of the problem. */
  readonly text: string;
  /** Repairs the problem. @returns what was done; undefined if the problem no longer existed */
  readonly repair?: () => Promise<string | undefined>;
  /** The next step for the user if teams cannot repair it. */
  readonly remedy?: string;
}

/** Returns a problem as a finding. @param repairCommand the command that repairs it */
export function problemFinding(name: string, problem: Problem, repairCommand: string): Finding {
  const remedy = problem.remedy ?? `Repair it: ${repairCommand}`;
  return problem.level === "fail" ? fail(name, problem.text, remedy) : warn(name, problem.text, remedy);
}

/** Repairs a problem and reports what was done. @returns no finding if the problem no longer existed */
export async function repairProblem(
  name: string,
  problem: Problem,
  repairCommand: string,
): Promise<Finding[]> {
  if (problem.repair === undefined) return [problemFinding(name, problem, repairCommand)];
  try {
    const done = await problem.repair();
    return done === undefined ? [] : [ok(name, done)];
  } catch (error) {
    return [
      fail(
        name,
        `${problem.text}; it was not repaired: ${messageOf(error)}`,
        "Fix the cause, then run the command again.",
      ),
    ];
  }
}

/** Lists the first three names: `a, b, c, …`. */
export function listSome(names: readonly string[]): string {
  return `${names.slice(0, 3).join(", ")}${names.length > 3 ? ", …" : ""}`;
}
