import { systemClock } from "../os/clock.ts";
import { homeDirectory } from "../os/files/app-directories.ts";
import { describePart, unconfirmedParts } from "../settings/project-parts.ts";
import { ignoredLines, type LoadedSettings, loadSettings } from "../settings/settings.ts";
import { OLD_RECORD, type PartOfFile, setTrust, trustDecision } from "../settings/trust.ts";
import { teamsHome } from "../team/ref.ts";
import type { AnyCall } from "../terminal/call.ts";
import { line, type Output } from "../terminal/output.ts";
import { canAsk, isYes, pagedAnswer } from "./paged-answer.ts";

const FIRST = "This directory has its own settings, which can run commands as you:\n";
const REFUSED = "Not trusted. To trust it: teams trust\n";
const SINCE =
  "These parts of this directory's files have changed since you trusted it, and can run commands as you:\n";
const ONCE =
  "You trusted this directory when teams did not yet compare contents. Confirm these parts of its files once:\n";

/**
 * Asks the user whether to use this directory's files (protocol.md section 1, Trust): once for each repository, and again for
 * parts that have changed since. Does not ask without a terminal, or if the directory has no such files.
 */
export async function askTrust(call: AnyCall): Promise<void> {
  if (!canAsk(call)) return;
  const { io } = call;
  const { root } = teamsHome(io.env);
  const decision = trustDecision(root, io.cwd);
  if (decision === false) return;
  const { ignored, ignoredReason } = loadSettings(root, io.cwd);
  // Read before the question: only the shown parts are confirmed.
  const parts = await unconfirmedParts({ root, cwd: io.cwd, home: homeDirectory(io.env) });
  if (ignored.length === 0 && (decision === undefined || parts.length === 0)) return;
  const isNew = decision === undefined;
  const head = isNew
    ? [FIRST, ...ignored.map((entry) => line`  ${entry}\n`)].join("")
    : againLine(ignoredReason);
  const shown = `${head}${parts.map(partLine).join("")}`.trimEnd();
  const answer = await pagedAnswer(io, shown.split("\n"), QUESTION);
  const trusted = isYes(answer);
  // The end of the input is not an answer.
  if (answer === undefined) return;
  if (trusted || isNew) await setTrust(root, io.cwd, trusted, systemClock, parts);
  io.out(
    trusted
      ? "Trusted. To undo it: teams trust --revoke\n"
      : isNew
        ? REFUSED
        : "Ignored. To use them: teams trust\n",
  );
}

const QUESTION = "Use them? Only if you trust their author. [y/N] ";

function againLine(reason: string): string {
  return reason === OLD_RECORD ? ONCE : SINCE;
}

/** Returns a part as a line of a list, safe to print. */
export function partLine(part: PartOfFile): string {
  return line`  ${describePart(part)}\n`;
}

/** Prints a line for each part of the settings that is ignored. */
export function noteIgnored(out: Pick<Output, "note">, settings: LoadedSettings): void {
  for (const text of ignoredLines(settings))
    out.note(line`${text.slice(0, 1).toUpperCase()}${text.slice(1)}`);
}
