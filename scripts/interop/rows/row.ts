import type { Program } from "../program.ts";
import type { Crew, Member } from "../team/crew.ts";

/** The team and the helpers that a row uses. */
export interface Bench {
  readonly crew: Crew;
  readonly program: Program;
  /** Returns the idle member `ada`; starts a new one if it is gone or does not become idle. */
  ada(): Promise<Member>;
  /** Creates another team for the same program; the row ends it. */
  another(id: string): Promise<Crew>;
  spawn(name: string, prompt: string, ...words: readonly string[]): Promise<string>;
  /** Sends a script to `ada`, without waiting for its end. */
  tell(...lines: readonly string[]): Promise<string>;
}

/** One row of the table. */
export interface Row {
  /** Its name in `--rows`. */
  readonly id: string;
  /** Its text in the table. */
  readonly text: string;
  /** Milliseconds after which the row counts as failed. */
  readonly limit?: number;
  /** Runs the check. @returns a remark for the table, if it is a text @throws Error with the reason of a failure */
  run(bench: Bench): Promise<unknown>;
}

/** The result of one row with one program. */
export interface Result {
  readonly row: string;
  readonly text: string;
  readonly mark: "✓" | "✗" | "–";
  /** The reason of a failure or of a row that does not apply. */
  readonly note?: string;
  /** The error of a failure whose reason is known, and is the note. */
  readonly error?: string;
  readonly ms: number;
  /** The day of the check. */
  readonly date: string;
}

/** Returns how many idle notices about an interrupted turn the lead has got from a member. */
export async function interruptNotices(crew: Crew, name: string): Promise<number> {
  const { messages } = await crew.json<{ messages: { from: string; text: string }[] }>(
    "inbox",
    "team-lead",
    "--all",
  );
  const isNotice = (text: string): boolean => /"idleReason":\s*"interrupted"/.test(text);
  return messages.filter(({ from, text }) => from === name && isNotice(text)).length;
}

/** Returns the current day, as the table shows it. */
export const today = (): string => new Date().toISOString().slice(0, 10);

/** Checks a condition. @throws Error with the problem and the value that was seen */
export function check(isMet: boolean, problem: string, seen?: unknown): void {
  if (!isMet)
    throw new Error(seen === undefined ? problem : `${problem}: ${JSON.stringify(seen)?.slice(0, 200)}`);
}
