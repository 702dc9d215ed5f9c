import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { ERROR_EXIT, type ErrorCode, TeamError } from "../../errors.ts";
import type { WorktreeEnd } from "../../operations/worktrees/remove-worktree.ts";
import type { Env } from "../../os/env.ts";
import { formatJson, replaceFile } from "../../os/files/atomic-write.ts";
import { ensureDir, isMissing, readText } from "../../os/files/fs.ts";
import { ownSecrets, redactValue } from "../../os/redact.ts";
import type { ProcessIdentity } from "../../schema/process-identity.ts";
import { failureOf } from "../../terminal/report-error.ts";
import type { RunSummary } from "./run-summary.ts";
import type { ReportedTask } from "./task-report.ts";

/** The result of a run, as `teams run --json` prints it. */
export interface RunResult extends Partial<RunSummary> {
  readonly team: string;
  readonly outcome: "completed" | "interrupted";
  /** The lead's final text. */
  readonly result: string;
  /** Worktrees of teammates that were not removed, because work in them would be lost; absent if there are none. */
  readonly worktrees?: readonly WorktreeEnd[];
  /** All tasks, each with the claim and the verify result; absent if no task has a verify command. */
  readonly tasks?: readonly ReportedTask[];
  /** The command that continues a kept team with unfinished work; absent otherwise. */
  readonly resume?: string;
}

/** Returns the summary in a result; undefined if the team was left. */
export function summaryIn(result: RunResult): RunSummary | undefined {
  return result.sessionId === undefined ? undefined : (result as RunSummary);
}

/** The progress of a lead in its own session. */
type LeadReport =
  /** With the lead's process: a killed one never writes the next report. */
  | { readonly kind: "started"; readonly process: ProcessIdentity }
  | { readonly kind: "ended"; readonly result: RunResult }
  | { readonly kind: "failed"; readonly code: string; readonly message: string; readonly hint?: string };

/** Path of the report file, for a lead in its own session. */
const RESULT_VARIABLE = "TEAMS_RESULT";

/** Whether another process has created a session for this lead and waits for its result. */
export function isInSession(env: Env): boolean {
  return env[RESULT_VARIABLE] !== undefined;
}

/** Returns a new path for the report of a lead in its own session. Not in the team's directory, which the run may delete. */
export function newResultFile(root: string, team: string): string {
  const directory = join(root, "results");
  ensureDir(directory);
  return join(directory, `${team}-${randomBytes(2).toString("hex")}.json`);
}

export function resultVariable(file: string): Env {
  return { [RESULT_VARIABLE]: file };
}

/** Writes the lead's report for the process that started its session; does nothing outside such a session. */
export function reportToSession(env: Env, report: LeadReport): void {
  const file = env[RESULT_VARIABLE];
  if (file === undefined) return;
  try {
    replaceFile(file, formatJson(redactValue(report, ownSecrets())));
  } catch (error) {
    // The directory was deleted, so no process waits for the report.
    if (!isMissing(error)) throw error;
  }
}

/** Runs the lead, and also reports its failure: the lead's pane closes with it. */
export async function reportingFailure<T>(env: Env, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, message, hint } = failureOf(error);
    reportToSession(env, { kind: "failed", code, message, ...(hint === undefined ? {} : { hint }) });
    throw error;
  }
}

/**
 * Returns the lead's newest report; undefined before the first. The content is trusted: the file's name is random.
 * @throws the failure that the lead reported
 */
export function readReport(file: string): Exclude<LeadReport, { kind: "failed" }> | undefined {
  const text = readText(file);
  if (text === undefined) return undefined;
  const report = JSON.parse(text) as LeadReport;
  if (report.kind !== "failed") return report;
  const { code, message, hint } = report;
  if (Object.hasOwn(ERROR_EXIT, code)) {
    throw new TeamError(code as ErrorCode, message, hint === undefined ? {} : { hint });
  }
  throw new Error(message);
}
