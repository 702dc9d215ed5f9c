import { EXIT } from "../errors.ts";
import type { ShutdownReport } from "../lead/shutdown.ts";

/** The exit status of a command that asked for ends: who has not ended in time weighs more than a refusal. */
export function exitOfShutdowns(reports: readonly ShutdownReport[], interrupted: boolean): number {
  if (interrupted) return EXIT.interrupted;
  if (reports.some(({ outcome }) => outcome === "timed_out")) return EXIT.timedOut;
  return reports.some(({ outcome }) => outcome === "rejected") ? EXIT.failed : EXIT.done;
}
