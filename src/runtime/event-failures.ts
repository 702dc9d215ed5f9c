import type { TeamRef } from "../team/ref.ts";
import { onEventFailure } from "../telemetry/event-log.ts";

const reporters = new Map<TeamRef, (text: string) => void>();

/** Reports the first failure in writing the events of a team. A process may lead several teams, each with its own reader. */
export function reportEventFailures(ref: TeamRef, report: (text: string) => void): void {
  reporters.set(ref, report);
  onEventFailure(reportOnce);
}

/** Ends the reports about a team, in a process that continues without it. */
export function forgetEventFailures(ref: TeamRef): void {
  reporters.delete(ref);
}

function reportOnce(text: string, path: string): void {
  for (const [ref, report] of reporters) {
    if (ref.paths.events !== path) continue;
    reporters.delete(ref);
    report(text);
  }
}
