import { messageOf } from "../errors.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** Something of a team's files that is not as it should be. */
export interface Flaw {
  /** `fail`: something cannot be read. `warn`: all works, and it should not stay. */
  readonly level: "warn" | "fail";
  /** What was found. */
  readonly text: string;
  /** Mends it. @returns what was done; undefined when there was nothing to do any more */
  readonly mend?: () => Promise<string | undefined>;
  /** What a person does about it where nothing here can. */
  readonly remedy?: string;
}

/** @param mendWith the command that mends it */
export function findingOf(name: string, flaw: Flaw, mendWith: string): Finding {
  const remedy = flaw.remedy ?? `Repair it: ${mendWith}`;
  return flaw.level === "fail" ? fail(name, flaw.text, remedy) : warn(name, flaw.text, remedy);
}

/** Mends a flaw and says what was done. @returns no finding where it had gone by itself */
export async function mended(name: string, flaw: Flaw, mendWith: string): Promise<Finding[]> {
  if (flaw.mend === undefined) return [findingOf(name, flaw, mendWith)];
  try {
    const done = await flaw.mend();
    return done === undefined ? [] : [ok(name, done)];
  } catch (error) {
    return [
      fail(name, `${flaw.text}; it was not repaired: ${messageOf(error)}`, "Solve that and do it again."),
    ];
  }
}

/** The first of many: `a, b, c, …`. */
export function some(names: readonly string[]): string {
  return `${names.slice(0, 3).join(", ")}${names.length > 3 ? ", …" : ""}`;
}
