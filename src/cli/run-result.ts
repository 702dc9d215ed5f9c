import type { Env } from "../os/env.ts";
import { readText, replaceFile } from "../os/fs.ts";

/** How a run ended: what `teams run --json` prints. */
export interface RunResult {
  readonly team: string;
  readonly outcome: "completed" | "interrupted";
  /** The lead's last words. */
  readonly result: string;
}

/** Tells the lead in a session of its own where its result is waited for. */
const RESULT_VARIABLE = "TEAMS_RESULT";

export function resultVariable(file: string): Env {
  return { [RESULT_VARIABLE]: file };
}

/** What the lead in the session hands to the terminal that started it. */
export function reportToSession(env: Env, result: RunResult): void {
  const file = env[RESULT_VARIABLE];
  if (file !== undefined) replaceFile(file, JSON.stringify(result));
}

/** The result, once the lead has reported it. The file is ours: nobody else knows its name. */
export function readReport(file: string): RunResult | undefined {
  const text = readText(file);
  return text === undefined ? undefined : (JSON.parse(text) as RunResult);
}
