import { messageOf } from "../../errors.ts";
import { appendPrivate, readText } from "../../os/files/fs.ts";
import type { OperationContext } from "../context.ts";

/**
 * Names a file for the events of each team that a run deletes. A run may end between two polls of the process that follows it: then the
 * team's log is gone before that process has opened it.
 */
export const EVENTS_COPY_VARIABLE = "TEAMS_EVENTS_COPY";

/** Appends the events of a team to the file of {@link EVENTS_COPY_VARIABLE}, if there is one. Call it right before the files are removed. */
export function copyEvents(
  { env, ref }: OperationContext,
  problem: ((text: string) => void) | undefined,
): void {
  const copy = env[EVENTS_COPY_VARIABLE];
  if (copy === undefined) return;
  try {
    appendPrivate(copy, readText(ref.paths.events) ?? "");
  } catch (error) {
    if (problem === undefined) throw error;
    problem(`The events of ${ref.team} were not copied: ${messageOf(error)}`);
  }
}
