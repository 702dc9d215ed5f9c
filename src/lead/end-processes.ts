import { endTree } from "../backend/end-process.ts";
import type { ProcessIdentity } from "../schema/process.ts";
import type { PlaceRecord } from "../schema/status.ts";
import { readPlace, readStatus } from "../team/records.ts";
import type { LeadContext } from "./context.ts";

/** Milliseconds between SIGTERM and SIGKILL. */
const GRACE = 2_000;

/**
 * Ends what a member's start left running: the launch script, the agent, and everything below them or marked by them.
 * @returns the pids that could not be ended
 */
export async function endProcesses(ctx: LeadContext, name: string): Promise<readonly number[]> {
  const place = readPlace(ctx.ref, name);
  const status = readStatus(ctx.ref, name);
  const root = launchScriptOf(place) ?? status?.process;
  const marker = place?.instance ?? status?.instance;
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
