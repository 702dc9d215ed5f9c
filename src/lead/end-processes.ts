import { endTree } from "../backend/end-process.ts";
import type { ProcessIdentity } from "../schema/process.ts";
import type { PlaceRecord } from "../schema/status.ts";
import { readPlace, readStatus } from "../team/records.ts";
import type { LeadContext } from "./context.ts";

/** Milliseconds between SIGTERM and SIGKILL. */
const GRACE = 2_000;

/** One start of an agent, as its records have it. */
export interface Started {
  readonly place?: PlaceRecord | undefined;
  readonly process?: ProcessIdentity | undefined;
  /** Where there is no place. */
  readonly instance?: string | undefined;
}

/**
 * Ends what a member's start left running: the launch script, the agent, and everything below them or marked by them.
 * @returns the pids that could not be ended
 */
export async function endProcesses(ctx: LeadContext, name: string): Promise<readonly number[]> {
  const { process, instance } = readStatus(ctx.ref, name) ?? {};
  return endStarted({ place: readPlace(ctx.ref, name), process, instance });
}

/** The same of one start, whoever has the name by now. */
export async function endStarted({ place, process, instance }: Started): Promise<readonly number[]> {
  const root = launchScriptOf(place) ?? process;
  const marker = place?.instance ?? instance;
  if (root === undefined || marker === undefined) return [];
  const { left } = await endTree({ root, marker }, { graceMs: GRACE });
  return left;
}

function launchScriptOf(
  place: PlaceRecord | undefined,
): Pick<ProcessIdentity, "pid" | "procStart"> | undefined {
  if (place?.panePid === undefined || place.paneProcStart === undefined) return undefined;
  return { pid: place.panePid, procStart: place.paneProcStart };
}
