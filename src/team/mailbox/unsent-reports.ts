import * as z from "zod/mini";
import { formatJson, makeDirBelow, replaceFile } from "../../os/files/atomic-write.ts";
import { removeFile } from "../../os/files/fs.ts";
import { ownSecrets, redactValue } from "../../os/redact.ts";
import { defined } from "../../schema/defined.ts";
import { type Form, lazily } from "../../schema/guards/guard.ts";
import { readRecordFile } from "../../store/json-file.ts";
import type { TeamRef } from "../ref.ts";
import { type OutgoingMessage, sendMessage } from "./send.ts";

/** A message that could not be delivered. It already has its id, so it arrives once, however often it is sent. */
export type UnsentReport = OutgoingMessage & { readonly messageId: string };

const reportList = lazily(() =>
  z.array(
    z.object({
      from: z.string(),
      to: z.string(),
      text: z.string(),
      summary: z.optional(z.string()),
      color: z.optional(z.string()),
      messageId: z.string(),
    }),
  ),
);

/** The file rarely exists, so only its content loads zod. */
const unsentReports: Form<z.infer<ReturnType<typeof reportList>>> = {
  guard: (value): value is [] => Array.isArray(value) && value.length === 0,
  schema: reportList,
};

/**
 * Returns the reports that an agent could not deliver, oldest first.
 * @throws TeamError PERMISSION_DENIED with the system error
 */
export function readUnsentReports(ref: TeamRef, agent: string): readonly UnsentReport[] {
  return (readRecordFile(ref.paths.agent(agent).unsent, unsentReports) ?? []).map(defined);
}

/**
 * Replaces the list of an agent's undelivered reports, synced to disk. Only the agent writes it, or the process that handles the
 * agent's end.
 * @throws a system error
 */
export function writeUnsentReports(ref: TeamRef, agent: string, reports: readonly UnsentReport[]): void {
  const { run, unsent } = ref.paths.agent(agent);
  if (reports.length === 0) {
    removeFile(unsent);
    return;
  }
  makeDirBelow(ref.paths.dir, run);
  replaceFile(unsent, formatJson(redactValue(reports, ownSecrets())));
}

/**
 * Sends the reports that an ended agent could not deliver. Idempotent.
 * @throws TeamError as {@link sendMessage}; the reports that were not sent stay
 */
export async function sendReportsOf(ref: TeamRef, agent: string): Promise<void> {
  const reports = readUnsentReports(ref, agent);
  for (const report of reports) await sendMessage(ref, report);
  if (reports.length > 0) writeUnsentReports(ref, agent, []);
}
