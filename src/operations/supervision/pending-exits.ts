import { steadyNow } from "../../os/clock.ts";
import { livenessOf } from "../../os/process/identity.ts";
import { launchScriptOf } from "../../team/members/judge-liveness.ts";
import { readExit, readPlace } from "../../team/records/read-records.ts";
import type { TeamRef } from "../../team/ref.ts";

/** Milliseconds that the exit record of an agent is awaited after this process has first seen that the agent is dead. */
const AWAIT_MS = 5_000;

/** When this process first saw each death whose exit record is missing, by the steady clock. */
const firstSeen = new Map<string, number>();

/**
 * True while the launch script of a dead agent still lives and has not recorded the exit: it will, and then it rings the bells. Not
 * for longer than 5 s: the script may be unable to write the record, or to continue.
 * @param id the id of the end
 */
export function isExitPending(ref: TeamRef, name: string, id: string): boolean {
  const key = keyOf(ref, id);
  const place = readPlace(ref, name);
  const script = launchScriptOf(place);
  const isRecorded = readExit(ref, name)?.instance === place?.instance;
  if (script === undefined || isRecorded || livenessOf(script) !== "alive") {
    firstSeen.delete(key);
    return false;
  }
  const since = firstSeen.get(key) ?? steadyNow();
  firstSeen.set(key, since);
  return steadyNow() - since < AWAIT_MS;
}

/** Returns the milliseconds until the first wait for an exit record of a team ends; undefined if none is awaited. */
export function untilNextExitIsOverdue(ref: TeamRef): number | undefined {
  const waits = [...firstSeen]
    .filter(([key]) => key.startsWith(keyOf(ref, "")))
    .map(([, since]) => since + AWAIT_MS - steadyNow())
    .filter((rest) => rest > 0);
  return waits.length === 0 ? undefined : Math.min(...waits);
}

function keyOf(ref: TeamRef, id: string): string {
  return `${ref.paths.config} ${id}`;
}
