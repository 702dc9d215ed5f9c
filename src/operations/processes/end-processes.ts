import { isLocalProcess } from "../../os/process/identity.ts";
import { endTree } from "../../os/process/process-tree.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import type { ProcessIdentity } from "../../schema/process-identity.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { readTeam } from "../../team/config/config.ts";
import { launchScriptOf } from "../../team/members/judge-liveness.ts";
import { lookUpMember } from "../../team/members/members.ts";
import { readPlace, readStatus } from "../../team/records/read-records.ts";
import type { OperationContext } from "../context.ts";

/** Milliseconds between SIGTERM and SIGKILL. */
const GRACE_MS = 2_000;

/** The records of one start of an agent. */
interface StartRecords {
  readonly place?: PlaceRecord | undefined;
  readonly process?: ProcessIdentity | undefined;
  /** Used if there is no place. */
  readonly instance?: string | undefined;
}

/**
 * Ends the processes of a member's start: the launch script, the agent, their descendants, and processes with their marker.
 * @returns the pids that could not be ended
 */
export async function endProcesses(ctx: OperationContext, name: string): Promise<readonly number[]> {
  const { process, instance } = readStatus(ctx.ref, name) ?? {};
  const place = readPlace(ctx.ref, name);
  const claimed = place === undefined && process === undefined ? claimedInstance(ctx, name) : undefined;
  return claimed === undefined
    ? endStartProcesses(ctx, { place, process, instance })
    : endMarkedProcesses(claimed);
}

/** Returns the instance of a start that has no place or process record because the spawning process was killed. */
function claimedInstance({ ref }: OperationContext, name: string): string | undefined {
  const member = lookUpMember(readTeam(ref), name);
  return member && readMetadata(member, "startClaim")?.instance;
}

/**
 * Ends all processes with the marker of a start whose launch script is unknown or does not exist.
 * @param host the process that the agent lives in, which is not ended
 * @returns the pids that could not be ended
 */
export async function endMarkedProcesses(marker: string, host?: ProcessIdentity): Promise<readonly number[]> {
  const tree = { root: { pid: 0, procStart: "" }, marker, ...(host && { host }) };
  return (await endTree(tree, { graceMs: GRACE_MS })).left;
}

/** Ends the processes of one start, even if the name has a new holder. @returns the pids that could not be ended */
export async function endStartProcesses(
  ctx: OperationContext,
  { place, process, instance }: StartRecords,
): Promise<readonly number[]> {
  if (place?.within !== undefined) return endInHostProcess(ctx, place);
  const root = launchScriptOf(place) ?? process;
  const marker = place?.instance ?? instance;
  if (root?.procStart === undefined || marker === undefined) return [];
  // After a reboot no process is left, and in another pid space the same pid is another process.
  if (!isLocalProcess(root)) return [];
  if (place !== undefined) await ctx.backends.of(place.backend)?.leave?.([place]);
  const { pid, procStart } = root;
  const { left } = await endTree({ root: { pid, procStart }, marker }, { graceMs: GRACE_MS });
  return left;
}

/** Ends an agent that lives in another process: only its child processes have pids of their own. */
async function endInHostProcess(
  { backends }: OperationContext,
  place: PlaceRecord,
): Promise<readonly number[]> {
  const within = (await backends.of(place.backend)?.end?.(place, GRACE_MS)) ?? [];
  if (place.within === undefined || !isLocalProcess(place.within.process)) return within;
  return [...within, ...(await endMarkedProcesses(place.instance, place.within.process))];
}
