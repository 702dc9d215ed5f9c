import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { ERROR_EXIT, type ErrorCode, TeamError } from "../../errors.ts";
import type { WorktreeEnd } from "../../operations/worktrees/remove-worktree.ts";
import type { Env } from "../../os/env.ts";
import { replaceFile } from "../../os/files/atomic-write.ts";
import { ensureDir, isMissing, readText } from "../../os/files/fs.ts";
import { ownSecrets, redactValue } from "../../os/redact.ts";
import type { ProcessIdentity } from "../../schema/process-identity.ts";
import { formatJson } from "../../store/format-json.ts";
import { failureOf } from "../../terminal/report-error.ts";

/** How a run ended: what `teams run --json` prints. */
export interface RunResult {
  readonly team: string;
  readonly outcome: "completed" | "interrupted";
  /** The lead's last words. */
  readonly result: string;
  /** Worktrees of teammates that stay, since something in them would be lost; absent without any. */
  readonly worktrees?: readonly WorktreeEnd[];
}

/** How far a lead in a session of its own has come. */
type LeadReport =
  /** With who writes the rest: one that was killed never does. */
  | { readonly kind: "started"; readonly process: ProcessIdentity }
  | { readonly kind: "ended"; readonly result: RunResult }
  | { readonly kind: "failed"; readonly code: string; readonly message: string; readonly hint?: string };

/** Tells the lead in a session of its own where its report is waited for. */
const RESULT_VARIABLE = "TEAMS_RESULT";

/** Whether this run leads in a session that another process made for it, and waits for its result. */
export function isInSession(env: Env): boolean {
  return env[RESULT_VARIABLE] !== undefined;
}

/** Where a lead in a session of its own puts its report: it stays for whoever looks for it after the team has gone. */
export function newResultFile(root: string, team: string): string {
  const directory = join(root, "results");
  ensureDir(directory);
  return join(directory, `${team}-${randomBytes(2).toString("hex")}.json`);
}

export function resultVariable(file: string): Env {
  return { [RESULT_VARIABLE]: file };
}

/** What the lead in the session says to the terminal that started it. */
export function reportToSession(env: Env, report: LeadReport): void {
  const file = env[RESULT_VARIABLE];
  if (file === undefined) return;
  try {
    replaceFile(file, formatJson(redactValue(report, ownSecrets())));
  } catch (error) {
    // Nobody waits any more: somebody took the file's directory away.
    if (!isMissing(error)) throw error;
  }
}

/** Does the lead's work, and reports its failure too: its own pane goes with it. */
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
 * What the lead has reported last; undefined before it did. The file is ours: nobody else knows its name.
 * @throws the failure that it reported
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
