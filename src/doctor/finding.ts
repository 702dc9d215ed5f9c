import { messageOf } from "../errors.ts";

/** One line of the doctor's report. */
export interface Finding {
  /** What was looked at: `tmux`, `runtime directory`. */
  readonly name: string;
  /** `warn`: it works without, less well. `fail`: it does not. */
  readonly level: "ok" | "warn" | "fail";
  /** What was found. */
  readonly text: string;
  /** What to do about it; none where all is well. */
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
 * A check that may not be able to look: that is its own finding, and the others still run.
 * @param remedy what lets it look
 */
export async function attempt(
  name: string,
  check: () => Finding | Promise<Finding | readonly Finding[]>,
  remedy: string,
): Promise<readonly Finding[]> {
  try {
    return [await check()].flat();
  } catch (error) {
    return [fail(name, `cannot be looked at: ${messageOf(error)}`, remedy)];
  }
}

/** Something of a team's files that is not as it should be. */
export interface Problem {
  /** `fail`: something cannot be read. `warn`: all works, and it should not stay. */
  readonly level: "warn" | "fail";
  /** What was found. */
  readonly text: string;
  /** Mends it. @returns what was done; undefined when there was nothing to do any more */
  readonly repair?: () => Promise<string | undefined>;
  /** What a person does about it where nothing here can. */
  readonly remedy?: string;
}

/** @param mendWith the command that mends it */
export function problemFinding(name: string, flaw: Problem, mendWith: string): Finding {
  const remedy = flaw.remedy ?? `Repair it: ${mendWith}`;
  return flaw.level === "fail" ? fail(name, flaw.text, remedy) : warn(name, flaw.text, remedy);
}

/** Mends a flaw and says what was done. @returns no finding where it had gone by itself */
export async function repairProblem(name: string, flaw: Problem, mendWith: string): Promise<Finding[]> {
  if (flaw.repair === undefined) return [problemFinding(name, flaw, mendWith)];
  try {
    const done = await flaw.repair();
    return done === undefined ? [] : [ok(name, done)];
  } catch (error) {
    return [
      fail(name, `${flaw.text}; it was not repaired: ${messageOf(error)}`, "Solve that and do it again."),
    ];
  }
}

/** The first of many: `a, b, c, …`. */
export function listSome(names: readonly string[]): string {
  return `${names.slice(0, 3).join(", ")}${names.length > 3 ? ", …" : ""}`;
}
